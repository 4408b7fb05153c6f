#pragma once

#include <memory>
#include <optional>

#include "application/ports/store.hpp"

namespace sluice {

// The process that uses the store dies at this moment. Only the simulation catches it.
struct ProcessDied {};

// A store that does not answer at chosen moments. It throws StoreUnavailable either before any
// write of the session was kept, or after all of them were: the caller cannot tell which.
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

    // From the next session on another session has locked the first entity that is asked for and
    // was not reserved, until a session reserves it.
    void busy_next() { busy_planned_ = true; }

    // How often a session met an entity that another one had locked.
    int busy_met() const { return busy_met_; }

    // From the next session on no job is removed: the list of ended jobs fails.
    void set_archive_broken(bool broken) { archive_broken_ = broken; }

    // The process dies at this moment of the next session.
    void die_next(Moment moment, int uses = 0);

    // While the disk is full no session that begins or is open can be committed, but for as many as
    // the reserve has space for, once that was given up.
    void set_full(bool full, int reserve = 0) {
        if (full == full_) return;
        full_ = full;
        state_ = ReserveState();
        reserve_ = reserve;
    }

    // Forgets the plan for the next session. False: there was none.
    bool forget_plan();

    std::unique_ptr<Session> begin() override;
    std::unique_ptr<JobReader> reader() override { return inner_.reader(); }
    std::int64_t last_id() override { return inner_.last_id(); }
    std::optional<int> seat() const override { return inner_.seat(); }
    StoreSpace space() const override { return state_.space(); }
    bool release_reserve() override { return reserve_ > 0 && state_.did_not_fit(); }

  private:
    struct Plan {
        Moment moment = Moment::begin;
        int uses = 0;
        enum { silence, conflict, death } what = silence;
    };
    class FaultySession;
    class SharedEntities;

    void use_room();
    [[noreturn]] static void fail(const Plan& plan, const char* when);

    Store& inner_;
    std::optional<Plan> planned_;
    bool full_ = false;
    ReserveState state_;
    int reserve_ = 0;  // sessions that fit in it
    bool busy_planned_ = false;
    int busy_met_ = 0;
    bool archive_broken_ = false;
    std::optional<EntityKey> busy_{};  // another session has locked it
};

}  // namespace sluice
