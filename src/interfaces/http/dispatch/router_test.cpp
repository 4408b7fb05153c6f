#include "interfaces/http/dispatch/router.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <stdexcept>

#include "interfaces/http/dispatch/routes.hpp"

namespace sluice::http {
namespace router_test {

Route route(Verb verb, std::string_view pattern) {
    return {verb, pattern, needs::somebody, nullptr};
}

// A router for one contract with these routes.
class SmallRouter {
  public:
    explicit SmallRouter(std::vector<Route> routes)
        : routes_(std::move(routes)), contract_{"/", routes_, nullptr}, router_(all_) {}

    // The pattern of the route, with the segments at its {…}; or what is allowed.
    std::string find(Verb verb, std::string_view path) const {
        const Destination found = router_.find(verb, path);
        EXPECT_EQ(found.contract, &contract_);
        if (found.route == nullptr) return "allowed: " + router_.allowed(path);
        std::string text(found.route->pattern);
        for (std::size_t i = 0; i < found.params.count(); ++i) {
            text += ' ';
            text += found.params.in(path, i);
        }
        return text;
    }

  private:
    std::vector<Route> routes_;
    Contract contract_;
    std::array<const Contract*, 1> all_{&contract_};
    Router router_;
};

void expect_refused(std::vector<Route> routes, std::string_view why) {
    try {
        SmallRouter router(std::move(routes));
        ADD_FAILURE() << "was not refused: " << why;
    } catch (const std::logic_error& error) {
        EXPECT_NE(std::string_view(error.what()).find(why), std::string_view::npos) << error.what();
    }
}

TEST(Router, FindsFixedPathsAndNothingNearThem) {
    const SmallRouter router({route(Verb::get, "/a/b"), route(Verb::get, "/a/bc"),
                              route(Verb::get, "/a"), route(Verb::get, "/ab"),
                              route(Verb::get, "/a/b1c"), route(Verb::get, "/a/b2c")});

    EXPECT_EQ(router.find(Verb::get, "/a"), "/a");
    EXPECT_EQ(router.find(Verb::get, "/ab"), "/ab");
    EXPECT_EQ(router.find(Verb::get, "/a/b"), "/a/b");
    EXPECT_EQ(router.find(Verb::get, "/a/bc"), "/a/bc");
    EXPECT_EQ(router.find(Verb::get, "/a/b1c"), "/a/b1c");
    EXPECT_EQ(router.find(Verb::get, "/a/b2c"), "/a/b2c");
    for (const char* path : {"", "/", "a", "*", "/b", "/A", "/a/", "//a", "/a//b", "/a/b/", "/a/bd",
                             "/a/b3c", "/a/b/c", "/a%2Fb", "/a/%62"}) {
        EXPECT_EQ(router.find(Verb::get, path), "allowed: ") << path;
    }
}

TEST(Router, GivesTheSegmentsOfAnyNumberOfParameters) {
    const SmallRouter router({route(Verb::get, "/a/{x}"), route(Verb::get, "/a/{x}/b/{y}"),
                              route(Verb::get, "/a/{x}/b/{y}/c/{z}"),
                              route(Verb::get, "/{p}/{q}/{r}/{s}/{t}/{u}/{v}/{w}")});

    EXPECT_EQ(router.find(Verb::get, "/a/1"), "/a/{x} 1");
    EXPECT_EQ(router.find(Verb::get, "/a/1/b/2"), "/a/{x}/b/{y} 1 2");
    EXPECT_EQ(router.find(Verb::get, "/a/1/b/2/c/3"), "/a/{x}/b/{y}/c/{z} 1 2 3");
    EXPECT_EQ(router.find(Verb::get, "/a/2/3/4/5/6/7/8"),
              "/{p}/{q}/{r}/{s}/{t}/{u}/{v}/{w} a 2 3 4 5 6 7 8");
    EXPECT_EQ(router.find(Verb::get, "/a/%2F%20/b/ü"), "/a/{x}/b/{y} %2F%20 ü");
}

TEST(Router, RefusesEmptySegmentsAndSlashesAtTheEnd) {
    const SmallRouter router({route(Verb::get, "/a/{x}"), route(Verb::get, "/a/{x}/b")});

    for (const char* path : {"/a/", "/a//b", "/a//", "/a/1/", "/a/1/b/", "//1"}) {
        EXPECT_EQ(router.find(Verb::get, path), "allowed: ") << path;
    }
}

TEST(Router, PrefersFixedSegmentsAndTurnsBackWhenTheyLeadNowhere) {
    const SmallRouter router({route(Verb::get, "/jobs/{id}"), route(Verb::post, "/jobs/claim"),
                              route(Verb::get, "/jobs/mine"), route(Verb::get, "/jobs/{id}/logs"),
                              route(Verb::get, "/jobs/claim/now"),
                              route(Verb::get, "/jobs/{id}/{part}/{line}")});

    EXPECT_EQ(router.find(Verb::get, "/jobs/mine"), "/jobs/mine");
    EXPECT_EQ(router.find(Verb::post, "/jobs/claim"), "/jobs/claim");
    EXPECT_EQ(router.find(Verb::get, "/jobs/claim"), "/jobs/{id} claim");
    EXPECT_EQ(router.find(Verb::get, "/jobs/claim/logs"), "/jobs/{id}/logs claim");
    EXPECT_EQ(router.find(Verb::get, "/jobs/claim/now"), "/jobs/claim/now");
    EXPECT_EQ(router.find(Verb::get, "/jobs/claim/now/1"), "/jobs/{id}/{part}/{line} claim now 1");
}

TEST(Router, TellsWhichVerbsAPathHasInTheOrderOfTheTable) {
    const SmallRouter router({route(Verb::remove, "/jobs/{id}"), route(Verb::post, "/jobs/claim"),
                              route(Verb::get, "/jobs/{id}"), route(Verb::put, "/jobs/{id}"),
                              route(Verb::patch, "/jobs/{id}"), route(Verb::get, "/jobs/claim")});

    EXPECT_EQ(router.find(Verb::post, "/jobs/1"), "allowed: DELETE, GET, HEAD, PUT, PATCH");
    EXPECT_EQ(router.find(Verb::options, "/jobs/claim"),
              "allowed: DELETE, POST, GET, HEAD, PUT, PATCH");
    EXPECT_EQ(router.find(Verb::other, "/jobs"), "allowed: ");
}

TEST(Router, HasAllVerbsAndAnswersHeadLikeGet) {
    const SmallRouter router({route(Verb::get, "/a/{x}"), route(Verb::put, "/a/{x}"),
                              route(Verb::patch, "/a/{x}"), route(Verb::remove, "/a/{x}"),
                              route(Verb::post, "/a")});

    for (const Verb verb : {Verb::get, Verb::head, Verb::put, Verb::patch, Verb::remove}) {
        EXPECT_EQ(router.find(verb, "/a/1"), "/a/{x} 1") << to_text(verb);
    }
    EXPECT_EQ(router.find(Verb::head, "/a"), "allowed: POST");
    EXPECT_EQ(router.find(Verb::options, "/a/1"), "allowed: GET, HEAD, PUT, PATCH, DELETE");
}

TEST(Router, RefusesTablesThatSayTwoThingsAboutOnePath) {
    expect_refused({route(Verb::get, "/a/b"), route(Verb::get, "/a/b")}, "fits the same paths as");
    expect_refused({route(Verb::get, "/a/{x}"), route(Verb::get, "/a/{y}")}, "GET /a/{y}");
    expect_refused({route(Verb::get, "/a/{x}/c"), route(Verb::get, "/a/b/{y}")}, "/a/{x}/c");
    EXPECT_NO_THROW(SmallRouter({route(Verb::get, "/a/{x}"), route(Verb::post, "/a/{y}")}));
    EXPECT_NO_THROW(SmallRouter({route(Verb::get, "/a/{x}/c"), route(Verb::get, "/a/b/c")}));
}

TEST(Router, RefusesPatternsThatItCannotRead) {
    for (const char* pattern : {"/a/{x}.json", "/a/x{y}", "/a/{}", "/a/{x", "/a/x}", "/a/{x}{y}"}) {
        expect_refused({route(Verb::get, pattern)}, "braces");
    }
    expect_refused({route(Verb::get, "a")}, "slash");
    expect_refused({route(Verb::head, "/a")}, "never reached");
    expect_refused({route(Verb::get, "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}")}, "too many {…}");
}

TEST(Router, RefusesARouteAmongThePathsOfAnotherContract) {
    const std::array first{route(Verb::get, "/api/x")};
    const std::array second{route(Verb::get, "/api/y")};
    const Contract outer{"/", first, nullptr};
    const Contract inner{"/api", second, nullptr};
    const std::array<const Contract*, 2> both{&outer, &inner};

    EXPECT_THROW(Router{both}, std::logic_error);
}

using Parts = std::vector<std::string_view>;

// The promise of the router in its simplest form: the first route in the tables that fits.
struct Fit {
    const Route* route = nullptr;
    const Contract* contract = contracts().front();
    Parts params{};
    std::string allowed{};
};

Parts split(std::string_view path) {
    Parts parts;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::optional<Parts> params_of(const Parts& pattern, const Parts& path) {
    if (pattern.size() != path.size()) return std::nullopt;
    Parts params;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const bool is_param = pattern[i].starts_with('{');
        if (is_param ? path[i].empty() : path[i] != pattern[i]) return std::nullopt;
        if (is_param) params.push_back(path[i]);
    }
    return params;
}

class Tables {
  public:
    Tables() {
        for (const Contract* contract : contracts()) {
            for (const Route& each : contract->routes)
                rows_.push_back({&each, split(each.pattern)});
        }
    }

    Fit first_fit(Verb verb, std::string_view path) const {
        if (verb == Verb::head) verb = Verb::get;
        Fit fit;
        for (const Contract* contract : contracts()) {
            const bool is_longer = contract->prefix.size() > fit.contract->prefix.size();
            if (is_longer && path.starts_with(contract->prefix)) fit.contract = contract;
        }
        const Parts parts = split(path);
        for (const Row& row : rows_) {
            auto params = params_of(row.pattern, parts);
            if (!params) continue;
            if (row.route->verb == verb && fit.route == nullptr) {
                fit.route = row.route;
                fit.params = *std::move(params);
            }
            const std::string_view text = to_text(row.route->verb);
            if (fit.allowed.find(text) != std::string::npos) continue;
            if (!fit.allowed.empty()) fit.allowed += ", ";
            fit.allowed += text;
            if (row.route->verb == Verb::get) fit.allowed += ", HEAD";
        }
        return fit;
    }

  private:
    struct Row {
        const Route* route;
        Parts pattern;
    };
    std::vector<Row> rows_;
};

// Paths that are, or nearly are, those of a route.
class Paths {
  public:
    Paths() {
        for (const Contract* contract : contracts()) {
            for (const Route& each : contract->routes) {
                patterns_.push_back(each.pattern);
                for (const std::string_view part : split(each.pattern)) words_.push_back(part);
            }
        }
        for (const char* odd : {"", ".", "..", "%2F", "%61pi", "x", "API", "{id}", "jobs.", "ü"}) {
            words_.emplace_back(odd);
        }
    }

    std::string next() {
        std::vector<std::string_view> parts = split(any(patterns_));
        for (std::string_view& part : parts) {
            if (part.starts_with('{') || one_in(12)) part = any(words_);
        }
        if (one_in(8)) parts.push_back(any(words_));
        if (one_in(8)) parts.pop_back();
        if (one_in(8)) parts.insert(parts.begin() + 1, any(words_));
        std::string path;
        for (const std::string_view part : parts) path.append("/").append(part);
        return path.empty() || one_in(50) ? path : path.substr(1);
    }

  private:
    bool one_in(unsigned count) { return random_() % count == 0; }
    std::string_view any(const std::vector<std::string_view>& all) {
        return all[random_() % all.size()];
    }

    std::mt19937 random_{20261118};
    std::vector<std::string_view> patterns_;
    std::vector<std::string_view> words_;
};

TEST(Router, AgreesWithTheTablesForPathsOfAllKinds) {
    constexpr std::array verbs{Verb::get,   Verb::head,   Verb::post,    Verb::put,
                               Verb::patch, Verb::remove, Verb::options, Verb::other};
    const Router router(contracts());
    const Tables tables;
    Paths paths;
    int found_count = 0;
    for (int round = 0; round < 5'000; ++round) {
        const std::string path = paths.next();
        for (const Verb verb : verbs) {
            const Destination found = router.find(verb, path);
            const Fit fit = tables.first_fit(verb, path);

            ASSERT_EQ(found.route, fit.route) << to_text(verb) << ' ' << path;
            ASSERT_EQ(found.contract, fit.contract) << path;
            ASSERT_EQ(found.params.count(), fit.params.size()) << path;
            for (std::size_t i = 0; i < fit.params.size(); ++i) {
                ASSERT_EQ(found.params.in(path, i), fit.params[i]) << path;
            }
            found_count += found.route != nullptr ? 1 : 0;
        }
        ASSERT_EQ(router.allowed(path), tables.first_fit(Verb::other, path).allowed) << path;
    }
    EXPECT_GT(found_count, 3'000);
}

}  // namespace router_test
}  // namespace sluice::http
