// Rules about what may run: limits and throttles of any scope, their history, and what they say of
// a job that is not there yet.
#include <algorithm>
#include <set>

#include "application/limits/stored_rules.hpp"
#include "interfaces/http/native_limits/handlers.hpp"
#include "interfaces/http/native_limits/limit_json.hpp"
#include "interfaces/http/native_limits/limit_writes.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/pages.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_values.hpp"

namespace sluice::http::native {
namespace {

// What a tenant may see of the history: of each change of a rule what the rule was before and after
// it, as far as that was about the tenant.
class TenantsView {
  public:
    // For the empty tenant: everything.
    TenantsView(const std::string& tenant, EntityReader& entities) : tenant_(tenant) {
        if (tenant.empty()) return;
        for (const StoredProfile& profile : stored_profiles(entities)) {
            const auto& tenants = profile.tenants;
            if (std::find(tenants.begin(), tenants.end(), tenant) != tenants.end()) {
                profiles_.insert(profile.name);
            }
        }
    }

    // False: there is nothing to see. Else it hides the side that is about others.
    bool shows(EntityEvent& event) const {
        if (tenant_.empty()) return true;
        Attributes detail = json_members(event.detail);
        if (!detail.contains("rule")) return false;
        bool shows_any = false, hides_any = false;
        for (const char* const side : {"before", "after"}) {
            const auto found = detail.find(side);
            if (found == detail.end() || found->second == "null") continue;
            const bool is_shown = is_about(json_members(found->second));
            shows_any = shows_any || is_shown;
            hides_any = hides_any || !is_shown;
            if (!is_shown) found->second = "null";
        }
        if (hides_any) event.detail = to_json(detail);
        return shows_any;
    }

  private:
    bool is_about(const Attributes& rule) const {
        const std::string profile = text_of(rule, "profile").value_or("");
        return covers(text_of(rule, "tenant").value_or(""), tenant_) &&
               (profile.empty() || profiles_.contains(profile));
    }

    std::string tenant_;
    std::set<std::string> profiles_{};  // that it has now
};

// The events that a tenant may see, in order; all of them if it is empty.
std::vector<EntityEvent> events_for(const std::string& tenant, JobReader& reader,
                                    std::int64_t after, int count) {
    constexpr int together = 500;
    const TenantsView view(tenant, reader.entities());
    std::vector<EntityEvent> seen;
    for (;;) {
        const int wanted = tenant.empty() ? count : std::max(count, together);
        std::vector<EntityEvent> read = reader.entities().events(control_key(), after, wanted);
        const bool was_last = std::ssize(read) < wanted;
        if (!read.empty()) after = read.back().seq;
        for (EntityEvent& event : read) {
            if (!view.shows(event)) continue;
            seen.push_back(std::move(event));
            if (std::ssize(seen) == count) return seen;
        }
        if (was_last) return seen;
    }
}

Result<Lane> read_lane(const Call& call) {
    const auto params = read_query(call.request, {"tenant", "type", "queue", "source"});
    if (!params) return params.error();
    auto tenant = tenant_asked_for(call, *params);
    if (!tenant) return tenant.error();
    Lane lane{.tenant = *std::move(tenant), .queue = {}, .type = {}};
    if (const std::string* type = params->find("type")) lane.type = *type;
    if (const std::string* source = params->find("source")) lane.source = *source;
    if (const std::string* queue = params->find("queue")) {
        lane.queue = *queue;
    } else if (const JobType* type = call.app.rules.types.find(lane.type)) {
        lane.queue = type->queue;
    }
    return lane;
}

}  // namespace

void list_limits(Call call) {
    const auto params = read_query(call.request, {"kind", "tenant"});
    if (!params) return send_refusal(call, params.error());
    std::optional<LimitKind> wanted;
    if (const std::string* kind = params->find("kind")) {
        wanted = parse_limit_kind(*kind);
        if (!wanted) {
            return send_refusal(call,
                                {ErrorCode::malformed,
                                 "kind must be maintenance, block, throttle, quota or limit", ""});
        }
    }
    list_rules(std::move(call), "limits", *params,
               [wanted](const LimitRule& rule) { return !wanted || rule.kind == *wanted; });
}

void create_limit(Call call) {
    create_rule(std::move(call), RuleForm::limit, "/api/v1/limits");
}
void get_limit(Call call) {
    get_rule(std::move(call), RuleForm::limit);
}
void change_limit(Call call) {
    change_rule(std::move(call), RuleForm::limit);
}
void lift_limit(Call call) {
    lift_rule_of(std::move(call), RuleForm::limit);
}

void get_limit_history(Call call) {
    const auto params = read_query(call.request, {"after", "limit"});
    if (!params) return send_refusal(call, params.error());
    const auto page = read_page(*params);
    if (!page) return send_refusal(call, page.error());
    const std::string tenant = call.caller->any_tenant ? std::string() : call.caller->tenant;
    const auto fetch = [tenant](JobReader& reader, std::int64_t after, int count) {
        return events_for(tenant, reader, after, count);
    };
    answer_from_store(call,
                      numbered_page("events", "next_after", *page, fetch, write_control_event));
}

void check_limits(Call call) {
    auto check = read_meter_check(call.request);
    if (!check) return send_refusal(call, check.error());
    check->actor = actor_name(*call.caller);
    const bool repair = check->repair;
    call.app.commands.post_one<CheckMeters>(
        *std::move(check), [call, repair](const Result<MeterDifferences>& differences) {
            if (!differences) return send_refusal(call, differences.error());
            call.reply.send(json(200, differences_text(*differences, repair)));
        });
}

void can_start(Call call) {
    auto lane = read_lane(call);
    if (!lane) return send_refusal(call, lane.error());
    const AskStart ask{*std::move(lane), viewer_of(*call.caller)};
    call.app.commands.post_one<AskStart>(ask, [call](const Result<StartNow>& start) {
        if (!start) return send_refusal(call, start.error());
        call.reply.send(json(200, start_text(*start)));
    });
}

}  // namespace sluice::http::native
