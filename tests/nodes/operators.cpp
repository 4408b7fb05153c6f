#include <thread>

#include "e2e/limits_support.hpp"
#include "nodes/actors.hpp"

namespace sluice::nodes {
namespace {

using e2e::Fields;
using e2e::Json;
using e2e::List;
using e2e::Millis;
using e2e::text;
using simulation::Dice;

constexpr std::uint64_t seeds_of_operators = 900;  // apart from those of the others
constexpr std::size_t limits_at_once = 8;
constexpr const char* profile = "gold";

// Limits of this name stay as they are.
constexpr const char* standing = "standing";

bool is_standing(const Json& limit) {
    return text(limit, "name").starts_with(standing);
}

class Operator {
  public:
    Operator(Stage& stage, int number)
        : stage_(stage),
          caller_(stage.nodes, stage.record, "operator-" + std::to_string(number),
                  stage.seed * 1000 + seeds_of_operators + static_cast<std::uint64_t>(number)),
          dice_(caller_.dice) {
        caller_.set_patience(stage.patience);
    }

    void run() {
        while (stage_.phase == Phase::chaos) {
            step();
            pause(Millis(50 + dice_.below(400)));
        }
    }

    // These stay in force while everything else changes.
    void add_standing_limits() {
        const List per{"tenant"};
        add_standing({{"source", "source-1"}, {"per", per}, {"max_active", 3}});
        add_standing({{"type", "task"}, {"queue", queue_name}, {"max_active", 12}});
        // So slow that it gains less than a token while clocks may be apart.
        slow_ = add_standing({{"source", "source-2"},
                              {"rate", Fields{{"count", 1}, {"period_ms", 1000}, {"burst", 12}}}});
        add_standing({{"source", "source-3"},
                      {"per", per},
                      {"max_active", 4},
                      {"rate", Fields{{"count", 300}, {"period_ms", 60'000}, {"burst", 6}}}});
    }

    // Also what others do late, and what the network repeats.
    void heal() {
        if (!slow_.empty()) {
            change_until_known("/limits/" + slow_, {{"rate", Fields{{"count", 50}}}});
        }
        while (stage_.phase != Phase::over) {
            for (const Json& limit : limits()) lift(limit);
            if (stage_.has_competition && stage_.is_healed && !stage_.is_competition_over) {
                compete(stage_);
            }
            pause(Millis(200));
        }
    }

  private:
    void step() {
        const int what = dice_.below(100);
        if (what < 17) return add_limit();
        if (what < 27) return add_quota();
        if (what < 44) return change_some();
        if (what < 55) return lift_some();
        if (what < 67) return pause_source(any_source());
        if (what < 76) return resume_source(any_source());
        if (what < 82) return maintain();
        if (what < 87) return block();
        if (what < 90) return set_profile();
        if (what < 97) return release_lease();
        check_limits(stage_);
    }

    std::string add_standing(Fields body);  // its id, if there was an answer
    void add_limit();
    void add_quota();
    void change_some();
    void lift_some();
    void lift(const Json& limit);
    void pause_source(const std::string& source);
    void resume_source(const std::string& source);
    void maintain();
    void block();
    void set_profile();
    void release_lease();

    List all_limits();
    List limits();
    void change(const std::string& path, Fields body);
    Answer change_until_known(const std::string& path, Fields body);
    Call call_for(const std::string& path, Fields body);
    void add_scope(Fields& body);
    void add_end(Fields& body);
    Fields any_rate();

    const Json& any_of(const List& list) {
        return list[static_cast<std::size_t>(dice_.below(static_cast<int>(list.size())))];
    }
    std::string any_source() { return nodes::any_source(dice_); }
    std::string any_tenant() { return tenant_of(dice_.below(2)); }
    void pause(Millis time) { std::this_thread::sleep_for(time); }

    Stage& stage_;
    Caller caller_;
    Dice& dice_;
    int changes_ = 0;
    int standing_limits_ = 0;
    std::string slow_{};  // the standing limit that starts few jobs
};

// The reason tells which change in the history an operation made.
Call Operator::call_for(const std::string& path, Fields body) {
    const std::string reason = caller_.name() + " change " + std::to_string(++changes_);
    body["reason"] = reason;
    return {.op = "change_limit",
            .args = {{"reason", reason}, {"path", path}, {"body", body}},
            .path = "/api/v1" + path,
            .body = serialize(body)};
}

void Operator::change(const std::string& path, Fields body) {
    if (dice_.one_in(15)) body["dry_run"] = true;
    const Call call = call_for(path, std::move(body));
    if (dice_.one_in(3)) {
        caller_.once(call);
    } else {
        caller_.until_known(call);
    }
}

Answer Operator::change_until_known(const std::string& path, Fields body) {
    return caller_.until_known(call_for(path, std::move(body)));
}

List Operator::all_limits() {
    const Answer answer =
        caller_.once({.op = "list_limits", .method = "GET", .path = "/api/v1/limits"});
    return answer.is_ok() ? e2e::list(answer.body, "limits") : List();
}

// Those that may be changed.
List Operator::limits() {
    List some;
    for (const Json& limit : all_limits()) {
        if (!is_standing(limit)) some.push_back(limit);
    }
    return some;
}

void Operator::add_scope(Fields& body) {
    if (dice_.one_in(3)) body["tenant"] = any_tenant();
    if (dice_.one_in(4)) body["type"] = dice_.one_in(2) ? "task" : "t*";
    if (dice_.one_in(2)) body["source"] = dice_.one_in(4) ? "source-*" : any_source();
    if (dice_.one_in(4)) body["queue"] = queue_name;
    List per;
    for (const char* field : {"tenant", "type", "source"}) {
        if (dice_.one_in(4)) per.emplace_back(field);
    }
    body["per"] = std::move(per);
}

Fields Operator::any_rate() {
    return {{"count", 10 + dice_.below(40)}, {"period_ms", 1000}, {"burst", 1 + dice_.below(10)}};
}

void Operator::add_end(Fields& body) {
    if (dice_.one_in(3)) body["until"] = e2e::later_by(Millis(200 + dice_.below(2000)));
}

std::string Operator::add_standing(Fields body) {
    body["name"] = standing + std::to_string(++standing_limits_);
    const std::string name = text(Json(body), "name");
    const Answer answer = change_until_known("/limits", std::move(body));
    if (answer.is_ok()) return text(answer.body, "id");
    // The name is taken by the limit that an earlier try has made, whose answer was lost.
    for (const Json& limit : all_limits()) {
        if (text(limit, "name") == name) return text(limit, "id");
    }
    return {};
}

void Operator::add_limit() {
    if (limits().size() >= limits_at_once) return lift_some();
    Fields body{{"kind", dice_.one_in(2) ? "limit" : "throttle"}};
    add_scope(body);
    add_end(body);
    if (dice_.percent(75)) body["max_active"] = 1 + dice_.below(6);
    if (dice_.percent(30) || !body.contains("max_active")) body["rate"] = any_rate();
    change("/limits", std::move(body));
}

void Operator::add_quota() {
    Fields body;
    if (dice_.percent(70)) body["tenant"] = any_tenant();
    if (body.empty() && dice_.one_in(4)) body["profile"] = profile;
    if (dice_.one_in(3)) body["type"] = "task";
    if (dice_.percent(70)) body["max_active"] = 2 + dice_.below(6);
    if (dice_.percent(40) || !body.contains("max_active")) {
        body["max_per_hour"] = 50 + dice_.below(3000);
        body["burst"] = 1 + dice_.below(60);
    }
    add_end(body);
    change("/quotas", std::move(body));
}

void Operator::change_some() {
    const List all = limits();
    if (all.empty()) return add_limit();
    const Json& limit = any_of(all);
    const std::string kind = text(limit, "kind");
    const std::string id = text(limit, "id");
    if (kind == "maintenance" || kind == "block") return;
    if (kind == "quota" && dice_.one_in(2)) {
        return change("/quotas/" + id + (dice_.one_in(2) ? "/pause" : "/resume"), {});
    }
    const bool is_quota = kind == "quota";
    Fields body{{"max_active", 1 + dice_.below(8)}};
    if (dice_.one_in(2)) {
        body = is_quota ? Fields{{"max_per_hour", 50 + dice_.below(3000)}}
                        : Fields{{"rate", any_rate()}};
    }
    change((is_quota ? "/quotas/" : "/limits/") + id, std::move(body));
}

void Operator::lift(const Json& limit) {
    change_until_known("/limits/" + text(limit, "id") + "/lift", {});
}

void Operator::lift_some() {
    const List all = limits();
    if (all.empty()) return;
    lift(any_of(all));
}

void Operator::pause_source(const std::string& source) {
    Fields body;
    if (dice_.one_in(2)) body["tenant"] = any_tenant();
    add_end(body);
    change("/sources/" + source + "/pause", std::move(body));
}

void Operator::resume_source(const std::string& source) {
    change("/sources/" + source + "/resume", {});
}

void Operator::maintain() {
    Fields body;
    if (dice_.one_in(2)) body["tenant"] = any_tenant();
    const Fields end = body;
    add_end(body);
    if (dice_.one_in(4)) body["submits"] = "refuse";
    change("/maintenance", std::move(body));
    pause(Millis(50 + dice_.below(400)));
    change_until_known("/maintenance/end", end);
}

void Operator::block() {
    const std::string tenant = any_tenant();
    Fields body;
    add_end(body);
    change("/tenants/" + tenant + "/block", std::move(body));
    pause(Millis(50 + dice_.below(400)));
    change_until_known("/tenants/" + tenant + "/unblock", {});
}

void Operator::set_profile() {
    List tenants;
    if (dice_.percent(70)) tenants.emplace_back(any_tenant());
    change("/quotas/profiles/" + std::string(profile), {{"tenants", std::move(tenants)}});
}

// Mostly of a job that is running, which may have ended meanwhile.
void Operator::release_lease() {
    const Answer running =
        caller_.once({.op = "list_jobs",
                      .method = "GET",
                      .path = "/api/v1/jobs?state=running&limit=20&tenant=" + caller_.tenant()});
    auto job = stage_.recent_job(dice_, caller_.tenant());
    if (running.is_ok()) {
        const List& jobs = e2e::list(running.body, "jobs");
        if (!jobs.empty()) job = text(any_of(jobs), "id");
    }
    if (!job) return;
    caller_.once({.op = "release_lease",
                  .args = {{"job", *job}},
                  .path = "/api/v1/jobs/" + *job + "/release-lease?tenant=" + caller_.tenant(),
                  .body = serialize(Fields{{"reason", "it seems to be stuck"}})});
}

}  // namespace

void act_as_operator(Stage& stage, int number) {
    Operator one(stage, number);
    if (number == 0) one.add_standing_limits();
    one.run();
    if (number == 0) one.heal();
}

void check_limits(Stage& stage) {
    Caller caller(stage.nodes, stage.record, "checker", stage.seed);
    caller.until_known({.op = "check_limits", .path = "/api/v1/limits/check", .body = "{}"});
}

}  // namespace sluice::nodes
