#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "application/ports/store.hpp"
#include "domain/chance.hpp"

namespace sluice {

// A store that does not answer at chosen or seeded moments. It throws StoreUnavailable either
// before anything of the session was kept, or after all of it was: the caller cannot tell which.
class FaultyStore : public Store {
  public:
    enum class Moment {
        begin,          // no session
        use,            // within the session, at the given use of one of its ports
        before_commit,  // nothing was kept
        after_commit,   // everything was kept
    };

    explicit FaultyStore(Store& inner) : inner_(inner) {}

    // The next session fails at this moment; `uses` ports are handed out before a failing use.
    void fail_next(Moment moment, int uses = 0);

    // The next session loses against another one at this use of one of its ports.
    void conflict_next(int uses);

    // From now on each session fails with this probability, at a moment that the seed chooses.
    void fail_by_chance(std::uint64_t seed, double probability);

    // From now on nothing fails.
    void heal();

    int faults() const { return faults_; }

    std::unique_ptr<Session> begin() override;
    std::unique_ptr<JobReader> reader() override { return inner_.reader(); }
    std::int64_t last_id() override { return inner_.last_id(); }

  private:
    struct Plan {
        Moment moment = Moment::begin;
        int uses = 0;
        bool is_conflict = false;
    };
    class FaultySession;

    std::optional<Plan> next_plan();
    [[noreturn]] void fail(const char* when);

    Store& inner_;
    std::optional<Plan> planned_;
    std::optional<Chance> chance_;
    double probability_ = 0;
    int faults_ = 0;
};

}  // namespace sluice
