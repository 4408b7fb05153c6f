#include <thread>

#include "nodes/actors.hpp"

namespace sluice::nodes {
namespace {

using e2e::Fields;
using e2e::List;
using e2e::Millis;
using e2e::text;

constexpr std::uint64_t seeds_of_competitors = 950;  // apart from those of the others
constexpr const char* narrow = "narrow";             // a source of which one job may run at a time
constexpr const char* paused = "paused";
constexpr const char* open = "open";

// So long claims of before may still wait, and so long after the last fault nothing is demanded.
constexpr Millis until_all_are_patient{1600};

// Asks for the jobs of one tenant.
class Competitor {
  public:
    Competitor(Stage& stage, int number)
        : caller_(stage.nodes, stage.record, "competitor-" + std::to_string(number),
                  stage.seed * 1000 + seeds_of_competitors + static_cast<std::uint64_t>(number),
                  tenant_of(number)) {
        caller_.set_patience(stage.patience);
    }

    // Jobs of a type that no limit of before covers.
    void submit(const char* source, int count) {
        List bodies;
        for (int i = 0; i < count; ++i) {
            const std::string mark = caller_.name() + "-" + std::to_string(++marks_);
            bodies.emplace_back(Fields{{"type", "errand"},
                                       {"queue", queue_name},
                                       {"tenant", caller_.tenant()},
                                       {"source", source},
                                       {"correlation_id", mark},
                                       {"payload", Fields{{"mark", mark}}},
                                       {"max_attempts", 1}});
        }
        const std::string key = "race-" + std::to_string(marks_);
        caller_.until_known({.op = "batch",
                             .args = {{"key", key}, {"bodies", bodies}},
                             .path = "/api/v1/jobs/batch",
                             .body = serialize(Fields{{"jobs", bodies}}),
                             .key = key});
    }

    Answer change(const std::string& path, Fields body) {
        const std::string reason = caller_.name() + " change " + std::to_string(++marks_);
        body["reason"] = reason;
        return caller_.until_known({.op = "change_limit",
                                    .args = {{"reason", reason}, {"path", path}, {"body", body}},
                                    .path = "/api/v1" + path,
                                    .body = serialize(body)});
    }

  private:
    Caller caller_;
    int marks_ = 0;
};

void pause(Millis time) {
    std::this_thread::sleep_for(time);
}

}  // namespace

void compete(Stage& stage) {
    std::vector<Competitor> all;
    for (int number = 0; number < static_cast<int>(tenants.size()); ++number) {
        all.emplace_back(stage, number);
    }
    const auto each_submits = [&](const char* source, int count) {
        for (Competitor& one : all) one.submit(source, count);
    };
    const Answer limit =
        all[0].change("/limits", {{"source", narrow}, {"per", List{"tenant"}}, {"max_active", 1}});
    all[0].change("/sources/" + std::string(paused) + "/pause", {});
    each_submits(paused, 2);
    stage.claims_are_patient = true;
    pause(until_all_are_patient);
    each_submits(narrow, 4);
    for (int i = 0; i < 4; ++i) {
        pause(Millis(200));
        each_submits(open, 1);
    }
    pause(Millis(400));
    all[0].change("/sources/" + std::string(paused) + "/resume", {});
    stage.claims_are_patient = false;
    each_submits(open, 10);  // so that no claim goes on waiting
    if (limit.is_ok()) all[0].change("/limits/" + text(limit.body, "id") + "/lift", {});
    stage.is_competition_over = true;
}

}  // namespace sluice::nodes
