// How often a batch waits for the server: as often for a hundred jobs as for a few.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "application/entities/entity_changes.hpp"
#include "domain/values/sha256.hpp"
#include "json/json_values.hpp"
#include "support/builders.hpp"
#include "support/pooler.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace entity_round_trips_test {

class PostgresEntityRoundTrips : public testing::Test {
  protected:
    // Each job is about a site and an environment of its own.
    static std::vector<JobSpec> jobs_on_sites(int count) {
        std::vector<JobSpec> specs;
        for (int i = 0; i < count; ++i) {
            specs.push_back(spec("env_deploy"));
            specs.back().site_id = "s" + std::to_string(i);
            specs.back().entity_type = "environment";
            specs.back().entity_id = "e" + std::to_string(i);
        }
        return specs;
    }

    struct Turns {
        int submit = 0;
        int claim = 0;
        int report = 0;
        int report_again = 0;
    };
    // How often the client has waited for the server since the last call.
    int lap() { return pooler.turns() - std::exchange(before_, pooler.turns()); }

    // Runs so many jobs from submit to end, each step in one batch.
    Turns turns_of(const std::vector<JobSpec>& specs, const std::string& result = "null") {
        Turns turns;
        lap();
        engine.submit_all(specs);
        turns.submit = lap();
        const Claimed claimed = engine.claim({}, static_cast<int>(specs.size()));
        EXPECT_EQ(claimed.size(), specs.size());
        turns.claim = lap();
        std::vector<Report> reports;
        for (const Job& job : claimed) {
            reports.push_back(report_of(job, Outcome::succeeded));
            reports.back().result = result;
        }
        ask_all(reports);
        turns.report = lap();
        ask_all(reports);
        turns.report_again = lap();
        return turns;
    }
    Turns turns_of(int count) { return turns_of(jobs_on_sites(count)); }

    // In one batch.
    template <class Item>
    void ask_all(const std::vector<Item>& items) {
        Batch batch;
        std::vector<Awaited<Item>> answers;
        for (const Item& item : items) answers.push_back(put(batch, item));
        engine.run(batch);
        for (const auto& answer : answers) EXPECT_TRUE(answer->value());
    }

    static std::string name(char kind, int i) { return kind + std::to_string(i); }

    static JobSpec job_of_app(const std::string& type, int i) {
        JobSpec made = spec(type);
        made.project = name('a', i);
        made.entity_type = "deployment";
        made.entity_id = name('d', i);
        made.payload = fmt::format(
            R"({{"deployment_id":"d{0}","environment_id":"v{0}","release_id":"r{0}",)"
            R"("runtime_profile_id":"p{0}","runtime_profile_revision":1,"fingerprint":{{}}}})",
            i);
        made.payload_digest = sha256(made.payload);
        return made;
    }

    // Adds so many apps, each with a deployment that its check lets start.
    void add_apps(int first, int count) {
        const auto decide = [=](EntityChanges& changes) -> Result<EntityAnswer> {
            for (int i = first; i < first + count; ++i) {
                const auto create = [&](const char* kind, char letter, Attributes attributes) {
                    NewEntity made{.key = {"default", kind, name(letter, i)},
                                   .parent = letter == 'a' ? "" : name('a', i),
                                   .attributes = std::move(attributes)};
                    EXPECT_TRUE(changes.create(std::move(made)));
                };
                const std::string profile = json_string(name('p', i));
                const std::string environment = json_string(name('v', i));
                create("app", 'a', {});
                create("runtime_profile", 'p',
                       {{"kind", R"("persistent_env")"}, {"profile_revision", "1"}});
                create("environment", 'v', {{"runtime_profile_id", profile}});
                create("release", 'r', {});
                create("deployment", 'd', {{"environment_id", environment}});
            }
            return EntityAnswer{};
        };
        EXPECT_TRUE(engine.ask(EntityAction{.decide = decide}));
        std::vector<JobSpec> checks;
        for (int i = first; i < first + count; ++i) {
            checks.push_back(job_of_app("msuite_deploy", i));
        }
        turns_of(checks);
    }

    Turns turns_of_deployments(int first, int count) {
        add_apps(first, count);
        std::vector<JobSpec> specs;
        for (int i = first; i < first + count; ++i) {
            specs.push_back(job_of_app("deploy_release", i));
        }
        return turns_of(specs, R"({"migrations":[{"id":"m1","status":"applied"}]})");
    }

    // Round trips of a batch that cancels so many jobs, each on a site of its own.
    int turns_of_cancels(int count) {
        std::vector<CancelJob> cancels;
        for (const Job& job : engine.submit_all(jobs_on_sites(count))) {
            cancels.push_back({.job = job.spec->id, .is_admin = true});
        }
        lap();
        ask_all(cancels);
        return lap();
    }

    // Round trips of the end of a job for which so many others wait, each of them for another one,
    // too.
    int turns_of_dependents(int count) {
        engine.submit(spec("first"));
        const Job first = engine.claim_one({.types = {"first"}});
        std::vector<JobSpec> others;
        for (const Job& job : engine.submit_all(jobs_on_sites(count))) {
            JobSpec waiting = spec("waits");
            waiting.depends_on = {first.spec->id, job.spec->id};
            others.push_back(std::move(waiting));
        }
        engine.submit_all(others);
        lap();
        engine.report(first, Outcome::failed);
        return lap();
    }

    TestDatabase database;
    Pooler pooler;
    std::shared_ptr<postgres::Cluster> cluster = std::make_shared<postgres::Cluster>(
        postgres::Database{.url = pooler.url_for(database.url())}, "test node");
    PostgresStore store{cluster};
    TestEngine engine{store};

    // A large message may be answered in the middle of it, the more often the slower the machine. A
    // round trip for each job would be ninety more.
    static constexpr int pieces = 20;

  private:
    int before_ = 0;
};

TEST_F(PostgresEntityRoundTrips, DoNotGrowWithTheBatch) {
    turns_of(1);  // lanes and the like are learned
    const Turns few = turns_of(10);
    const Turns many = turns_of(100);

    EXPECT_LE(many.submit, few.submit + pieces);
    EXPECT_LE(many.claim, few.claim + pieces);
    EXPECT_LE(many.report, few.report + pieces);
    EXPECT_LE(many.report, 20);
    EXPECT_LE(many.report_again, few.report_again + pieces);
    RecordProperty("report", many.report);
    EXPECT_EQ(store.reader()->entities().count({.kind = "site", .states = {"active"}}), 100);
}

// Gates guard the starts of these deployments, and their ends ask for migrations, environments and
// profiles.
TEST_F(PostgresEntityRoundTrips, OfDeploymentsInManyAppsDoNotGrowWithTheBatch) {
    turns_of_deployments(0, 1);
    const Turns few = turns_of_deployments(100, 10);
    const Turns many = turns_of_deployments(200, 100);

    EXPECT_LE(many.claim, few.claim + pieces);
    EXPECT_LE(many.report, few.report + pieces);
    EXPECT_LE(many.report_again, few.report_again + pieces);
    RecordProperty("claim", many.claim);
    RecordProperty("report", many.report);
    const auto reader = store.reader();
    EntityReader& entities = reader->entities();
    EXPECT_EQ(entities.count({.kind = "deployment", .states = {"succeeded"}}), 111);
    EXPECT_EQ(entities.count({.kind = "migration"}), 111);
}

TEST_F(PostgresEntityRoundTrips, OfCancelsDoNotGrowWithTheBatch) {
    turns_of_cancels(1);
    const int few = turns_of_cancels(10);
    const int many = turns_of_cancels(100);

    EXPECT_LE(many, few + pieces);
    RecordProperty("cancel", many);
}

TEST_F(PostgresEntityRoundTrips, OfAnEndDoNotGrowWithWhatWaitsForIt) {
    turns_of_dependents(1);
    const int few = turns_of_dependents(10);
    const int many = turns_of_dependents(100);

    EXPECT_LE(many, few + pieces);
    RecordProperty("dependents", many);
}

}  // namespace entity_round_trips_test
}  // namespace sluice
