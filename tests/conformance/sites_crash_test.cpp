// Sites and their jobs never disagree, however often the engine is killed.
#include <atomic>
#include <random>
#include <thread>

#include "conformance/sites.hpp"

namespace sluice::e2e {
namespace sites_crash_test {

constexpr int sites = 5;
constexpr int rounds = 8;

std::string site_name(int i) {
    return "site-" + std::to_string(i);
}

class SitesCrash : public SitesTest {
  protected:
    // Workers and a submitter that go on until the engine is gone, or they are told to stop.
    void work_until_it_dies(Millis life) {
        std::atomic<bool> stop = false;
        std::thread killer([&] {
            std::this_thread::sleep_for(life);
            engine().kill();
            stop = true;
        });
        in_parallel(3, [&](int worker) {
            try {
                Api mine(engine().port(), "default");
                std::mt19937 chance(static_cast<unsigned>(worker) + round_ * 7);
                while (!stop) step(mine, chance);
            } catch (const std::exception&) {  // the engine is gone
            }
        });
        killer.join();
        ++round_;
    }

    // The state of every site agrees with its jobs.
    void expect_agreement() {
        for (int i = 0; i < sites; ++i) {
            const std::string path = "/api/v1/sites/" + site_name(i);
            if (api().http.get(path).status == 404) continue;
            Json site = api().get(path);
            // A lease may run out between two reads; then both are repeated.
            for (Json before; before != site; site = api().get(path)) {
                before = site;
                disagreement_ = disagreement_of(site, site_name(i));
            }
            EXPECT_EQ(disagreement_, "") << boost::json::serialize(site);
        }
    }

    std::int64_t moves() {
        std::int64_t count = 0;
        for (const Json& site : list(api().get("/api/v1/sites"), "sites")) {
            count += number(site, "revision");
        }
        return count;
    }

  private:
    std::string disagreement_of(const Json& site, const std::string& name) {
        const std::string state = text(site, "state");
        const Fields& attributes = at(site, "attributes").as_object();
        const std::string path = "/api/v1/jobs?state=running&type=env_deploy&site_id=" + name;
        const List running = list(api().get(path), "jobs");
        if (running.size() > 1) return "two jobs run on it";
        if (!attributes.contains("job_id")) return running.empty() ? "" : "it knows of no job";
        const std::string moved_by = text(at(site, "attributes"), "job_id");
        if (!running.empty() && moved_by != text(running[0], "id")) return "another job runs on it";
        const Json job = api().job(moved_by);
        const std::string job_state = text(job, "state");
        const bool goes_on =
            job_state == "running" || (job_state == "queued" && number(job, "attempt") > 0);
        if (goes_on != (state == "deploying")) return "its job is " + job_state;
        return job_state == "succeeded" && state != "active" ? "its job has succeeded" : "";
    }

    static void step(Api& mine, std::mt19937& chance) {
        const std::string site = site_name(static_cast<int>(chance() % sites));
        switch (chance() % 4) {
            case 0: mine.try_submit(on_site("env_deploy", site, {{"backoff", "none"}})); break;
            case 1: mine.http.post("/api/v1/sites/" + site + "/reset", "{}"); break;
            default:
                for (const Json& lease : mine.claim({{"lease_ms", 1000}, {"wait_ms", 20}})) {
                    const unsigned how = chance() % 4;
                    if (how == 0) continue;  // as if this worker had died
                    mine.report(lease, how == 1   ? failure(false)
                                       : how == 2 ? failure()
                                                  : Fields{{"outcome", "succeeded"}});
                }
        }
    }

    std::string disagreement_;
    unsigned round_ = 0;
};

TEST_F(SitesCrash, SitesAndJobsAgreeAfterEveryKill) {
    serve();
    for (int round = 0; round < rounds; ++round) {
        work_until_it_dies(Millis(150 + 60 * round));
        serve();
        expect_agreement();
    }
    EXPECT_GT(moves(), 2 * rounds) << "too little happened for this to mean anything";
}

}  // namespace sites_crash_test
}  // namespace sluice::e2e
