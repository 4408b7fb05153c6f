#pragma once

#include <optional>
#include <string>
#include <vector>

#include "application/limits/pauses.hpp"
#include "interfaces/http/toolkit/app.hpp"
#include "json/json_reader.hpp"

// Reading changes of the rules about what may run.
namespace sluice::http::native {

// The two forms in which a rule is written: with a scope and a rate, or as a quota.
enum class RuleForm { limit, quota };

// What every change has beside the rule itself.
struct LimitWrite {
    std::string reason{};
    std::optional<std::string> ticket{};  // empty: it is removed
    bool dry_run = false;
};

struct RuleRequest {
    LimitRule rule{};
    LimitWrite write{};
};

// Reads the members of a rule over those of `base`: a member that is given replaces, null removes,
// and all others stay. A base without an id is a rule that is to be made.
Result<RuleRequest> read_rule_request(std::string_view body, Reading reading, RuleForm form,
                                      LimitRule base);

// A change that names no rule: a pause, maintenance, a block, and the end of them.
struct LimitAction {
    LimitWrite write{};
    std::optional<std::string> tenant{};
    std::optional<std::string> source{};
    std::optional<Timestamp> until{};
    bool refuses_submits = false;  // "submits": "refuse"
    NamedOfPause named{.until = false, .submits = false};
    bool cancels_running = false;  // "running": "cancel"
    std::optional<std::vector<std::string>> tenants{};
};
// Reads reason, ticket, dry_run, and those of the other members that are named.
Result<LimitAction> read_limit_action(const Request& request,
                                      const std::vector<std::string_view>& members);

// Reads a comparison of the meters with the leases, which needs no reason.
Result<CheckMeters> read_meter_check(const Request& request);

// The revisions of a rule that a change is meant for.
class IfMatch {
  public:
    // Refuses a header that is no list of entity tags. A weak tag is one that never matches, as RFC
    // 9110 has it.
    static Result<IfMatch> read(const Request& request);

    // The refusal when there is a rule of another revision, or none.
    std::optional<Error> refuse(std::optional<std::int64_t> revision) const;

    CheckRevision check() const {
        return [match = *this](std::optional<std::int64_t> revision) {
            return match.refuse(revision);
        };
    }

  private:
    bool is_given_ = false;
    bool is_any_ = true;
    std::vector<std::int64_t> revisions_{};
};

}  // namespace sluice::http::native
