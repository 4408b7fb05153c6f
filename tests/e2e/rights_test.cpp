// Every route against every kind of caller, by the table in the code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include "e2e/guarded_engine.hpp"
#include "interfaces/http/dispatch/routes.hpp"

namespace sluice::e2e {
namespace rights_test {

using http::Right;

constexpr std::string_view no_such_id = "6af9e0750252000000000000";
constexpr auto roles =
    std::to_array<std::string_view>({"user", "reviewer", "config_manager", "app_admin"});

std::ptrdiff_t rank(std::string_view role) {
    return std::find(roles.begin(), roles.end(), role) - roles.begin();
}

// A caller as the test sees it: its credential, and its permissions.
struct Person {
    std::string name;
    std::string token;
    bool is_known = true;
    bool is_home = true;  // of the tenant that the app and the deploy control plane belong to
    bool is_overall = false;
    bool is_worker = false;
    std::vector<Scope> scopes{};
    std::string role{};  // in the app

    bool has(Scope scope) const {
        const auto named = [&](Scope one) {
            return std::find(scopes.begin(), scopes.end(), one) != scopes.end();
        };
        return named(Scope::admin) || named(scope) ||
               (scope == Scope::read && (named(Scope::operate) || named(Scope::quota)));
    }
};

enum class Verdict { stranger, forbidden, elsewhere, admitted };

Verdict verdict_in_app(const Person& person, const Right& right) {
    if (person.is_worker) return Verdict::forbidden;
    if (!person.scopes.empty() && !person.has(right.scope)) return Verdict::forbidden;
    if (right.role.empty()) return Verdict::admitted;
    if (!person.is_home) return Verdict::elsewhere;
    if (person.has(Scope::admin)) return Verdict::admitted;
    if (person.role.empty() || rank(person.role) < rank(right.role)) return Verdict::forbidden;
    return Verdict::admitted;
}

Verdict expected(const Person& person, const Right& right) {
    if (right.kind == Right::Kind::open) return Verdict::admitted;
    if (!person.is_known) return Verdict::stranger;
    const auto by = [](bool allowed) { return allowed ? Verdict::admitted : Verdict::forbidden; };
    switch (right.kind) {
        case Right::Kind::any: return Verdict::admitted;
        case Right::Kind::scope: return by(person.has(right.scope));
        case Right::Kind::role: return verdict_in_app(person, right);
        case Right::Kind::overall: return by(person.is_overall && person.has(right.scope));
        case Right::Kind::door: return by(person.is_home && person.has(right.scope));
        default: return Verdict::forbidden;
    }
}

class RightsWalk : public testing::Test {
  protected:
    RightsWalk() : engine("[limits]\nbad_tokens_per_address = \"0\"\n") {
        app_ =
            text(at(parse(engine.post(member("app_admin"), "/api/apps", {{"name", "shop"}}).body),
                    "data"),
                 "id");
        for (const auto role : roles) {
            const Response put = engine.post(member("app_admin"), "/api/apps/" + app_ + "/members",
                                             {{"user", role}, {"role", role}});
            EXPECT_LT(put.status, 300) << put.body;
        }
    }

    // The token of a user of this name, without scopes.
    std::string member(std::string_view name) {
        std::string& token = members_[std::string(name)];
        if (token.empty()) token = engine.token({{"name", name}, {"kind", "user"}});
        return token;
    }

    std::string scoped(const char* scope, Fields more = {}) {
        more["scopes"] = List{scope};
        more["kind"] = "service";
        return engine.token(more);
    }

    std::string expired() {
        const std::string soon =
            to_rfc3339(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) +
                       std::chrono::milliseconds(300));
        const std::string token =
            engine.token({{"expires_at", soon}, {"scopes", List{"orch:admin"}}});
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        return token;
    }

    std::string revoked() {
        const Json token = engine.new_token({{"scopes", List{"orch:admin"}}});
        EXPECT_EQ(engine.get(text(token, "token"), "/api/v1/whoami").status, 200);
        engine.revoke(token);
        return text(token, "token");
    }

    std::vector<Person> strangers() {
        const std::string good = scoped("orch:admin");
        std::string wrong = good;
        wrong.back() = wrong.back() == 'A' ? 'B' : 'A';
        std::string unknown = good;
        unknown[5] = unknown[5] == '0' ? '1' : '0';
        return {{.name = "nobody", .token = "", .is_known = false},
                {.name = "garbage", .token = "garbage", .is_known = false},
                {.name = "a token cut short", .token = good.substr(0, 60), .is_known = false},
                {.name = "a wrong secret", .token = wrong, .is_known = false},
                {.name = "an unknown id", .token = unknown, .is_known = false},
                {.name = "expired", .token = expired(), .is_known = false},
                {.name = "revoked", .token = revoked(), .is_known = false}};
    }

    std::vector<Person> people() {
        std::vector<Person> all = strangers();
        const Fields away{{"tenant", "other"}};
        all.push_back({.name = "first admin",
                       .token = engine.admin(),
                       .is_overall = true,
                       .scopes = {Scope::admin}});
        all.push_back({.name = "admin", .token = scoped("orch:admin"), .scopes = {Scope::admin}});
        all.push_back(
            {.name = "operator", .token = scoped("orch:operate"), .scopes = {Scope::operate}});
        all.push_back({.name = "reader", .token = scoped("orch:read"), .scopes = {Scope::read}});
        all.push_back({.name = "reader of all",
                       .token = scoped("orch:read", {{"all_tenants", true}}),
                       .is_overall = true,
                       .scopes = {Scope::read}});
        all.push_back({.name = "quota", .token = scoped("orch:quota"), .scopes = {Scope::quota}});
        all.push_back(
            {.name = "backfill", .token = scoped("orch:backfill"), .scopes = {Scope::backfill}});
        all.push_back({.name = "worker",
                       .token = engine.token({{"kind", "worker"}}),
                       .is_worker = true,
                       .scopes = {Scope::work}});
        all.push_back({.name = "admin elsewhere",
                       .token = scoped("orch:admin", away),
                       .is_home = false,
                       .scopes = {Scope::admin}});
        all.push_back({.name = "worker elsewhere",
                       .token = engine.token({{"kind", "worker"}, {"tenant", "other"}}),
                       .is_home = false,
                       .is_worker = true,
                       .scopes = {Scope::work}});
        all.push_back({.name = "no member", .token = member("eve")});
        for (const auto role : roles) {
            all.push_back(
                {.name = std::string(role), .token = member(role), .role = std::string(role)});
        }
        all.push_back(
            {.name = "app_admin who may only read",
             .token = engine.token({{"name", "app_admin"}, {"scopes", List{"orch:read"}}}),
             .scopes = {Scope::read},
             .role = "app_admin"});
        return all;
    }

    // The pattern with a value for each {…}.
    std::string path_of(const http::Route& route) const {
        std::string path(route.pattern);
        for (std::size_t open = path.find('{'); open != path.npos; open = path.find('{')) {
            const std::size_t end = path.find('}', open) + 1;
            const std::string_view name = std::string_view(path).substr(open, end - open);
            const std::string value = name == "{app}"    ? app_
                                      : name == "{kind}" ? "site"
                                                         : std::string(no_such_id);
            path.replace(open, end - open, value);
        }
        return path;
    }

    // A body that is not refused before the caller's role is checked.
    static std::string body_of(const http::Route& route) {
        if (route.verb == http::Verb::get) return "";
        if (route.pattern.ends_with("/members")) return R"({"user":"zoe","role":"user"})";
        if (route.pattern.ends_with("/review")) return R"({"decision":"approve"})";
        if (route.pattern.ends_with("/deploy")) {
            return fmt::format(R"({{"release_id":"{}"}})", no_such_id);
        }
        return "{}";
    }

    Response call(const Person& person, const http::Route& route) {
        return engine.request(person.token, http::to_text(route.verb), path_of(route),
                              body_of(route));
    }

    GuardedEngine engine;

  private:
    std::map<std::string, std::string> members_;
    std::string app_;
};

template <class Look>
void each_route(Look look) {
    for (const http::Contract* contract : http::contracts()) {
        for (const http::Route& route : contract->routes) look(*contract, route);
    }
}

std::string without_request_id(const Response& response) {
    std::string body = response.body;
    const std::string id = response.header("X-Request-Id");
    for (std::size_t at = body.find(id); !id.empty() && at != body.npos; at = body.find(id)) {
        body.replace(at, id.size(), "…");
    }
    return body;
}

TEST_F(RightsWalk, EveryRouteLetsInWhomTheTableNamesAndNobodyElse) {
    int calls = 0;
    std::map<Verdict, int> seen;
    const std::vector<Person> all = people();
    each_route([&](const http::Contract&, const http::Route& route) {
        for (const Person& person : all) {
            const Response response = call(person, route);
            const Verdict verdict = expected(person, route.right);
            const std::string what =
                fmt::format("{} {} as {}: {} {}", http::to_text(route.verb), route.pattern,
                            person.name, response.status, response.body.substr(0, 300));
            switch (verdict) {
                case Verdict::stranger: EXPECT_EQ(response.status, 401) << what; break;
                case Verdict::forbidden: EXPECT_EQ(response.status, 403) << what; break;
                case Verdict::elsewhere: EXPECT_EQ(response.status, 404) << what; break;
                case Verdict::admitted:
                    EXPECT_TRUE(response.status != 401 && response.status != 403 &&
                                response.status < 500)
                        << what;
                    break;
            }
            ++calls;
            ++seen[verdict];
        }
    });
    EXPECT_GT(calls, 2000);
    EXPECT_EQ(seen.size(), 4u);
}

// Doors of a contract name the header of their secret.
TEST_F(RightsWalk, StrangersAllGetTheSameAnswerFromADoorOfAContract) {
    const std::vector<Person> unknown = strangers();
    std::map<std::pair<const http::Contract*, std::string_view>, std::set<std::string>> bodies;
    each_route([&](const http::Contract& contract, const http::Route& route) {
        if (route.right.kind == Right::Kind::open) return;
        for (const Person& person : unknown) {
            const Response response = call(person, route);
            EXPECT_TRUE(response.header("WWW-Authenticate").starts_with("Bearer"));
            const std::string_view header = route.right.door ? route.right.door->header : "";
            bodies[{&contract, header}].insert(without_request_id(response));
        }
    });
    for (const auto& [door, different] : bodies) {
        EXPECT_EQ(different.size(), 1u) << door.first->prefix << " " << door.second;
    }
}

TEST_F(RightsWalk, OtherMethodsAndOtherSpellingsOpenNothing) {
    const Headers overrides{{"X-HTTP-Method-Override", "GET"},
                            {"X-Original-URL", "/healthz"},
                            {"X-Forwarded-User", "admin"},
                            {"X-Tenant", "other"}};
    each_route([&](const http::Contract&, const http::Route& route) {
        if (route.right.kind == Right::Kind::open) return;
        const Person nobody{.name = "nobody", .token = ""};
        const std::string path = path_of(route);
        for (const char* method : {"DELETE", "OPTIONS", "PUT", "BREW"}) {
            const int status = engine.request("", method, path, "").status;
            EXPECT_TRUE(status == 405 || status == 501 || status == 400) << method << ' ' << path;
        }
        for (const std::string& spelling :
             {path + "/", "/" + path, path + "/.", path + "/%2e%2e/healthz", path + "%2f",
              "/healthz/.." + path,
              "/%61pi" + path.substr(std::min<std::size_t>(4, path.size()))}) {
            const Response response =
                engine.request("", std::string(http::to_text(route.verb)), spelling,
                               route.verb == http::Verb::get ? "" : "{}");
            EXPECT_GE(response.status, 400) << spelling;
        }
        const Response response =
            engine.request("", std::string(http::to_text(route.verb)), path,
                           route.verb == http::Verb::get ? "" : "{}", overrides);
        EXPECT_EQ(response.status, 401) << path;
    });
}

}  // namespace rights_test
}  // namespace sluice::e2e
