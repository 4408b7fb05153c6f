#pragma once

#include <functional>
#include <string>

#include "interfaces/http/message/url.hpp"
#include "interfaces/http/native_limits/read_limit.hpp"

// What the requests share that change the rules about what may run: who may change which rule, and
// the answers.
namespace sluice::http::native {

// A caller of one tenant may change the rules of exactly that tenant. Maintenance needs an admin; a
// block one of all tenants.
std::optional<Error> refuse_rule(const Caller& caller, const LimitRule& rule,
                                 std::string_view pointer = {});

// The tenant that an action is about: of a caller of one tenant its own, also when it names none.
std::optional<Error> settle_tenant(const Caller& caller, LimitAction& action);

// The rule of this id, also one that was lifted. A rule that does not cover the caller's tenant is
// not found; one that it may not change is forbidden.
Result<LimitRule> rule_to_change(EntityChanges& changes, const Caller& caller,
                                 const std::string& id);

std::string etag_of(std::int64_t revision);

ChangeReason reason_of(const Caller& caller, const LimitWrite& write);

// The name of a source or tenant stands in the path, or in the body when it cannot be a part of
// one.
enum class NameIn { path, body };

// Posts a change and answers what `respond` makes of its answer. In a dry run `respond` says what
// would be.
using DecideLimits = std::function<Result<LimitAnswer>(EntityChanges&)>;
using RespondLimits = std::function<Response(const LimitAnswer&)>;
void post_limits(Call call, bool dry_run, DecideLimits decide, RespondLimits respond);

// The answer for one rule that was written. `path`: of the rules of its kind, if it is new.
Response rule_response(const LimitAnswer& answer, bool dry_run, std::string_view path = {});

// Ends a pause, maintenance or a block, and answers with the rules that were lifted.
void end_pauses_of(Call call, const WhichPause& which, const LimitWrite& write,
                   const CheckRevision& match);

// The handlers that quotas and other rules share.
void create_rule(Call call, RuleForm form, std::string_view path);
void change_rule(Call call, RuleForm form);
void lift_rule_of(Call call, RuleForm form);
void get_rule(Call call, RuleForm form);

// Answers with the rules that `shows` accepts, as members of {"<list>":[…]}.
void list_rules(Call call, std::string_view list, const QueryParams& params,
                std::function<bool(const LimitRule&)> shows);

}  // namespace sluice::http::native
