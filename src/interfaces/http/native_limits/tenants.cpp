// Blocked tenants.
//
//   1. The block is committed: from then on the tenant gets no lease, so no other job starts.
//   2. If the caller wants it, the tenant's running jobs are listed and canceled, again and again
//      until none is left that can be.
#include "application/limits/pauses.hpp"
#include "application/toolkit/names.hpp"
#include "domain/values/percent_encoding.hpp"
#include "interfaces/http/native_limits/handlers.hpp"
#include "interfaces/http/native_limits/limit_json.hpp"
#include "interfaces/http/native_limits/limit_writes.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

constexpr int cancels_at_once = 200;

Result<std::string> tenant_in_path(const Call& call) {
    auto tenant = percent_decode(call.param(0));
    if (!tenant || is_prefix(*tenant)) {
        return Error{ErrorCode::malformed,
                     "the tenant in the path must be the name of one tenant, with UTF-8 text as "
                     "%XX",
                     ""};
    }
    if (auto refusal = check_tenant("tenant", *tenant)) {
        refusal->pointer.clear();
        return *std::move(refusal);
    }
    return *std::move(tenant);
}

Result<std::string> tenant_in_body(const LimitAction& action) {
    if (!action.tenant) return refuse("tenant", "is required: the name of the tenant");
    if (is_prefix(*action.tenant)) {
        return refuse("tenant", "must be the name of one tenant, without a * at its end");
    }
    if (auto refusal = check_tenant("tenant", *action.tenant)) return *std::move(refusal);
    return *action.tenant;
}

struct TenantAction {
    std::string tenant{};
    LimitAction action{};
    CheckRevision match{};
};

Result<TenantAction> read_tenant_action(const Call& call, NameIn where, bool is_block) {
    const bool is_in_body = where == NameIn::body;
    auto in_path = is_in_body ? Result<std::string>(std::string()) : tenant_in_path(call);
    if (!in_path) return in_path.error();
    std::vector<std::string_view> members;
    if (is_block) members = {"until", "running"};
    if (is_in_body) members.emplace_back("tenant");
    auto action = read_limit_action(call.request, members);
    if (!action) return action.error();
    auto tenant = is_in_body ? tenant_in_body(*action) : std::move(in_path);
    if (!tenant) return tenant.error();
    const auto match = IfMatch::read(call.request);
    if (!match) return match.error();
    return TenantAction{*std::move(tenant), *std::move(action), match->check()};
}

JobFilter running_jobs(const std::string& tenant) {
    return {.tenant = tenant, .states = {JobState::running}};
}

Response blocked_response(const LimitAnswer& answer, bool dry_run, std::int64_t canceled) {
    Response response = rule_response(answer, dry_run);
    response.body.pop_back();
    response.body += ",\"canceled\":" + std::to_string(canceled) + "}";
    return response;
}

// Cancels the running jobs of a blocked tenant, and then answers.
class CancelRunning : public std::enable_shared_from_this<CancelRunning> {
  public:
    CancelRunning(Call call, std::string tenant, LimitAnswer blocked, CancelJob like)
        : call_(std::move(call)),
          tenant_(std::move(tenant)),
          blocked_(std::move(blocked)),
          like_(std::move(like)) {}

    // Cancels the next few, older than those before.
    void go_on() {
        const auto question = [tenant = tenant_,
                               before = before_](JobReader& reader) -> Result<std::vector<JobId>> {
            std::vector<JobId> ids;
            for (const Job& job : reader.list(running_jobs(tenant), before, cancels_at_once)) {
                ids.push_back(job.spec->id);
            }
            return ids;
        };
        call_.app.queries.ask<std::vector<JobId>>(
            question, [self = shared_from_this()](Result<std::vector<JobId>> ids) {
                if (!ids) return send_refusal(self->call_, ids.error());
                if (ids->empty()) return self->answer();
                self->cancel(*ids);
            });
    }

  private:
    void cancel(const std::vector<JobId>& ids) {
        before_ = ids.back();
        std::vector<CancelJob> cancels(ids.size(), like_);
        for (std::size_t i = 0; i < ids.size(); ++i) cancels[i].job = ids[i];
        call_.app.commands.post<CancelJob>(
            std::move(cancels), [self = shared_from_this()](const AnswersTo<CancelJob>& answers) {
                for (const Result<Job>& job : answers) self->canceled_ += job ? 1 : 0;
                self->go_on();
            });
    }

    void answer() { call_.reply.send(blocked_response(blocked_, false, canceled_)); }

    Call call_;
    std::string tenant_;
    LimitAnswer blocked_;
    CancelJob like_;
    JobId before_ = newest;
    std::int64_t canceled_ = 0;
};

void answer_dry_run(const Call& call, const std::string& tenant, const LimitAnswer& answer,
                    bool cancels) {
    if (!cancels) return call.reply.send(blocked_response(answer, true, 0));
    call.app.queries.ask<std::int64_t>(
        [tenant](JobReader& reader) -> Result<std::int64_t> {
            return reader.count(running_jobs(tenant));
        },
        [call, answer](Result<std::int64_t> count) {
            if (!count) return send_refusal(call, count.error());
            call.reply.send(blocked_response(answer, true, *count));
        });
}

void block(Call call, NameIn where) {
    const auto read = read_tenant_action(call, where, true);
    if (!read) return send_refusal(call, read.error());
    const LimitAction& action = read->action;
    LimitRule rule{.id = {}, .kind = LimitKind::block};
    rule.scope.tenant = read->tenant;
    rule.refuses_submits = true;
    rule.until = action.until;
    const NamedOfPause named{.until = action.named.until, .submits = true};
    const ChangeReason why = reason_of(*call.caller, action.write);
    const auto decide = [rule, why, named, match = read->match](EntityChanges& changes) {
        return put_pause(changes, rule, why, named, match);
    };
    const CancelJob cancel{
        .tenant = read->tenant, .reason = why.reason, .actor = why.actor, .is_admin = true};
    call.app.commands.post_one<ChangeLimits>(
        {.dry_run = action.write.dry_run, .decide = decide},
        [call, tenant = read->tenant, action, cancel](const Result<LimitAnswer>& answer) {
            if (!answer) return send_refusal(call, answer.error());
            if (action.write.dry_run) {
                return answer_dry_run(call, tenant, *answer, action.cancels_running);
            }
            if (!action.cancels_running) {
                return call.reply.send(blocked_response(*answer, false, 0));
            }
            std::make_shared<CancelRunning>(call, tenant, *answer, cancel)->go_on();
        });
}

void unblock(Call call, NameIn where) {
    const auto read = read_tenant_action(call, where, false);
    if (!read) return send_refusal(call, read.error());
    end_pauses_of(std::move(call), {.kind = LimitKind::block, .tenant = read->tenant},
                  read->action.write, read->match);
}

}  // namespace

void block_tenant(Call call) {
    block(std::move(call), NameIn::path);
}
void unblock_tenant(Call call) {
    unblock(std::move(call), NameIn::path);
}
void block_named_tenant(Call call) {
    block(std::move(call), NameIn::body);
}
void unblock_named_tenant(Call call) {
    unblock(std::move(call), NameIn::body);
}

void list_blocked(Call call) {
    const auto params = read_query(call.request, {});
    if (!params) return send_refusal(call, params.error());
    list_rules(std::move(call), "tenants", *params,
               [](const LimitRule& rule) { return rule.kind == LimitKind::block; });
}

}  // namespace sluice::http::native
