// The successes of one entity, which gates ask for, whatever other jobs it has.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/statement.hpp"
#include "infrastructure/sqlite/reading/list_query.hpp"
#include "support/builders.hpp"

namespace sluice::sqlite {
namespace successes_test {

namespace fs = std::filesystem;

class SqliteSuccesses : public testing::Test {
  protected:
    SqliteSuccesses() {
        fs::remove_all(folder);
        fs::create_directories(folder);
        writer = open_writer(folder / "jobs.db", 0);
    }
    ~SqliteSuccesses() override {
        writer.reset();
        fs::remove_all(folder);
    }

    // Checks of the entity that have ended, the first of them with success.
    void add_checks(int from, int to, int successes, const char* tenant = "default",
                    const char* type = "check", const char* kind = "changeset") {
        execute(writer.get(), fmt::format(R"sql(
WITH RECURSIVE n(id) AS (SELECT {} UNION ALL SELECT id + 1 FROM n WHERE id < {})
INSERT INTO job (id, tenant, queue, type, priority, created_at, dependencies, max_attempts, timeout,
    retry_on_timeout, run_despite_failure, entity_type, entity_id, payload_digest, head_hash,
    payload)
SELECT id, '{}', 'q', '{}', 0, 0, 0, 1, 0, 0, 0, '{}', 'c1', '', '', '{{}}'
FROM n)sql",
                                          from, to, tenant, type, kind)
                                  .c_str());
        execute(writer.get(), fmt::format(R"sql(
INSERT INTO done (id, state, completed_at, attempt, log_seq, event_seq, head_hash)
SELECT id, CASE WHEN id < {} THEN 2 ELSE 3 END, 0, 1, 0, 2, '' FROM job
WHERE id BETWEEN {} AND {})sql",
                                          from + successes, from, to)
                                  .c_str());
    }

    std::vector<JobId> successes() { return ListQuery(writer.get(), filter).next(newest, 100); }

    // The steps of a statement are counted, not timed.
    template <class Work>
    std::int64_t steps_of(Work&& work) {
        std::int64_t steps = 0;
        sqlite3_progress_handler(
            writer.get(), 1,
            [](void* counter) {
                ++*static_cast<std::int64_t*>(counter);
                return 0;
            },
            &steps);
        work();
        sqlite3_progress_handler(writer.get(), 0, nullptr, nullptr);
        return steps;
    }

    const JobFilter filter{.states = {JobState::succeeded},
                           .type = "check",
                           .entity_type = "changeset",
                           .entity_id = "c1"};
    fs::path folder = fs::temp_directory_path() / ("sluice-successes-" + std::to_string(getpid()));
    Connection writer;
};

TEST_F(SqliteSuccesses, OfAFileOfAnOlderVersionAreFound) {
    migrate(writer.get(), embedded_migrations().first(4), at(1));
    add_checks(1, 5, 2);

    migrate(writer.get(), embedded_migrations(), at(2));

    EXPECT_EQ(successes(), (std::vector<JobId>{{2}, {1}}));
    EXPECT_EQ(count_jobs(writer.get(), filter), 2);
}

TEST_F(SqliteSuccesses, CostNoMoreBesideTenThousandFailures) {
    migrate(writer.get(), embedded_migrations().first(4), at(1));
    add_checks(1, 5, 2);
    add_checks(6, 10'000, 0);
    migrate(writer.get(), embedded_migrations(), at(2));

    EXPECT_LT(steps_of([&] { EXPECT_EQ(successes(), (std::vector<JobId>{{2}, {1}})); }), 200);
}

// An entity of the same id in another tenant, or of another kind, and other jobs of this one.
TEST_F(SqliteSuccesses, AndTheLatestJobCostNoMoreBesideWhatIsOfOthers) {
    migrate(writer.get(), embedded_migrations().first(4), at(1));
    add_checks(1, 5, 2);
    add_checks(1'001, 4'000, 3'000, "acme");
    add_checks(4'001, 7'000, 3'000, "default", "check", "release");
    add_checks(7'001, 10'000, 3'000, "default", "other");
    migrate(writer.get(), embedded_migrations(), at(2));
    JobFilter all = filter;
    all.states.clear();

    EXPECT_LT(steps_of([&] { EXPECT_EQ(successes(), (std::vector<JobId>{{2}, {1}})); }), 200);
    EXPECT_LT(steps_of([&] {
                  EXPECT_EQ(ListQuery(writer.get(), all).next(newest, 1), std::vector{JobId{5}});
              }),
              200);
}

}  // namespace successes_test
}  // namespace sluice::sqlite
