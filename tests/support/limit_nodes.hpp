#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "support/commit.hpp"
#include "support/limit_builders.hpp"
#include "support/test_database.hpp"

namespace sluice {

// Two committers of one database, as on two nodes, and what tests of rules do with them.
class LimitNodes : public testing::Test {
  protected:
    using Ids = std::vector<JobId>;

    static TestDatabase& database() {
        static TestDatabase shared;
        return shared;
    }

    // As the engine does with sessions that lose against others.
    template <class Work>
    static auto insist(Store& store, Work&& work) {
        for (;;) {
            try {
                return commit(store, work);
            } catch (const StoreConflict&) {
            }
        }
    }

    static void write(Session& session, const LimitRule& rule) { write_rule(session, rule, at(0)); }
    static void set(Store& store, const LimitRule& rule) {
        insist(store, [&](Session& session) {
            write(session, rule);
            return 0;
        });
    }
    static void lift(Store& store, const LimitRule& rule) {
        insist(store, [&](Session& session) {
            lift_rule(session, rule, at(0));
            return 0;
        });
    }

    void put(const JobSpec& spec) const {
        insist(*one, [&](Session& session) {
            const Arrival arrival{queued(spec), false};
            session.jobs().put({&arrival, 1});
            return 0;
        });
    }
    void put_some(std::int64_t first, std::int64_t last) const {
        for (std::int64_t id = first; id <= last; ++id) put(spec(id));
    }

    static std::vector<Job> take(Session& session, int limit, Timestamp now) {
        const LeaseStore::Wanted wanted{&limit_builders::anything, limit};
        return session.leases().take({&wanted, 1}, now).front();
    }
    // Takes and opens jobs.
    std::vector<Job> start_in(Session& session, int limit, Timestamp now = at(0)) {
        std::vector<Job> jobs = take(session, limit, now);
        for (Job& job : jobs) job = running(job, {.token = ++token_, .now = now});
        session.leases().open(jobs);
        return jobs;
    }
    std::vector<Job> start(Store& store, int limit, Timestamp now = at(0)) {
        return insist(store, [&](Session& session) { return start_in(session, limit, now); });
    }
    Ids started(Store& store, int limit = 9, Timestamp now = at(0)) {
        return ids_of(start(store, limit, now));
    }
    static Ids claimable(Store& store, Timestamp now = at(0)) {
        return ids_of(take(*store.begin(), 9, now));
    }

    static void finish_in(Session& session, JobId id) {
        session.reserve({.leased = {id}});
        const Job over = ended(session.jobs().find_one(id).value(), JobState::succeeded, at(1));
        session.jobs().finish({&over, 1});
    }
    static void finish(Store& store, JobId id) {
        insist(store, [&](Session& session) {
            finish_in(session, id);
            return 0;
        });
    }

    static std::vector<MeterDifference> check(Store& store, bool repair = false) {
        return insist(store,
                      [&](Session& session) { return session.limits().check_meters(repair); });
    }
    static int newly_ready(Store& store, Timestamp now = at(0)) {
        return commit(store, [&](Session& session) {
            int count = 0;
            for (const Readied& lane : session.leases().newly_ready(now)) count += lane.count;
            return count;
        });
    }

    static std::int64_t ask(const std::string& text) {
        postgres::Connection connection({.url = database().url()});
        const postgres::Result result = connection.ask({"", text});
        return postgres::Row(result, 0).integer();
    }
    // Returns once a session waits for a lock.
    static bool is_waited_for_a_lock() {
        for (int i = 0; i < 2000; ++i) {
            if (ask("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND wait_event_type = 'Lock'") > 0) {
                return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }
    static void execute(const std::string& text) {
        postgres::Connection connection({.url = database().url()});
        connection.execute(text);
    }

    std::unique_ptr<Store> one = database().open_empty();
    std::unique_ptr<Store> two = database().open();
    std::atomic<std::int64_t> token_ = 1000;
};

}  // namespace sluice
