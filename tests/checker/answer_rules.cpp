// Answers as such: which ones may come, and when.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

struct Answer {
    std::string_view op;
    int status;
    std::string_view code;  // of a refusal
};

// All answers that a correct client can get, besides "try again".
constexpr auto expected = std::to_array<Answer>({
    {"submit", 202, ""},
    {"submit", 422, "idempotency_key_reused"},
    {"submit", 403, "forbidden"},  // the tenant is blocked
    {"batch", 202, ""},
    {"batch", 403, "forbidden"},
    {"replay", 202, ""},
    {"replay", 403, "forbidden"},
    {"replay", 409, "conflict"},
    {"cancel", 200, ""},
    {"cancel", 409, "conflict"},
    {"read", 200, ""},
    {"read_logs", 200, ""},
    {"stream", 200, ""},
    {"stream", 204, ""},
    {"claim", 200, ""},
    {"heartbeat", 200, ""},
    {"heartbeat", 409, "lease_lost"},
    {"logs", 200, ""},
    {"logs", 409, "lease_lost"},
    {"report", 200, ""},
    {"report", 409, "lease_lost"},
    {"report", 409, "conflict"},
    {"release", 200, ""},
    {"release", 409, "lease_lost"},
    {"release_lease", 200, ""},
    {"release_lease", 409, "conflict"},  // no worker holds the job
    {"change_limit", 200, ""},
    {"change_limit", 201, ""},
    {"change_limit", 404, "not_found"},  // there is nothing to lift any more
    {"change_limit", 409, "conflict"},   // there is a quota already
    {"change_limit", 422, "invalid"},    // its end has passed meanwhile
    {"check_limits", 200, ""},
});

// A kill and the like is no request.
bool is_request(const Operation& operation) {
    if (operation.is_part) return false;
    return std::any_of(expected.begin(), expected.end(),
                       [&](const Answer& answer) { return answer.op == operation.op; });
}

bool is_expected(const Operation& operation) {
    return std::any_of(expected.begin(), expected.end(), [&](const Answer& answer) {
        return answer.op == operation.op && answer.status == operation.status &&
               answer.code == operation.code;
    });
}

}  // namespace

void answers_are_expected(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const Operation& operation : evidence.operations) {
        if (!is_request(operation) || operation.outcome == Outcome::info) continue;
        const bool is_refused = operation.status == 422 && operation.code == "invalid" &&
                                (asks_the_impossible(evidence, operation) ||
                                 asks_for_the_removed(evidence, limits, operation));
        const bool is_missed = operation.status == 404 && operation.code == "not_found" &&
                               may_be_removed(evidence, limits, operation.job);
        row.expect(
            is_expected(operation) || is_refused || is_missed, operation.actor,
            fmt::format("{} was answered {} {}", operation.op, operation.status, operation.code));
    }
}

void answers_come_in_time(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const Operation& operation : evidence.operations) {
        if (!is_request(operation)) continue;
        const Span took = operation.t1 - operation.t0;
        const std::chrono::milliseconds asked(number(operation.args, "wait_ms"));
        row.expect(took <= limits.answer + asked, operation.actor,
                   fmt::format("{} took {} us", operation.op, took.count()));
    }
}

}  // namespace sluice::checker
