#pragma once

#include <coroutine>
#include <functional>
#include <vector>

#include "domain/values/time.hpp"
#include "simulation/dice.hpp"

namespace sluice::simulation {

// The virtual clock, and the events to come. Of events at the same moment the dice decide which
// comes first.
class Timeline {
  public:
    Timeline(Timestamp start, Dice& dice) : now_(start), dice_(dice) {}

    Timestamp now() const { return now_; }

    void at(Timestamp moment, std::function<void()> what);
    void after(Duration time, std::function<void()> what) { at(now_ + time, std::move(what)); }

    // Moves the clock to the next event, and runs it. False: there is none before `end`.
    bool step(Timestamp end);

    // co_await timeline.sleep(…)
    auto sleep(Duration time) {
        struct Sleep {
            Timeline& timeline;
            Duration time;
            bool await_ready() const { return false; }
            void await_suspend(std::coroutine_handle<> sleeper) {
                timeline.after(time, [sleeper] { sleeper.resume(); });
            }
            void await_resume() const {}
        };
        return Sleep{*this, time};
    }

  private:
    struct Entry {
        Timestamp moment{};
        std::uint64_t order = 0;
        std::function<void()> what{};

        bool operator<(const Entry& other) const {  // the next one is the largest
            return moment != other.moment ? moment > other.moment : order > other.order;
        }
    };

    Timestamp now_;
    Dice& dice_;
    std::vector<Entry> heap_;
};

}  // namespace sluice::simulation
