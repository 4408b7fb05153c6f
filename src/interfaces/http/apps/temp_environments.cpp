#include "application/apps/app_changes.hpp"
#include "application/toolkit/names.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"
#include "json/json_values.hpp"

namespace sluice::http::apps {
namespace {

// Its source may be given by `kind` and `source_id`: a changeset, or a workspace, which is known to
// its worker only.
std::optional<Error> read_source(Attributes& fields) {
    const auto kind = text_of(fields, "kind");
    if (!kind || *kind == "workspace" || *kind == "temp_workspace") return std::nullopt;
    if (*kind != "changeset" && *kind != "temp_changeset") {
        return refuse("kind", "must be changeset or workspace");
    }
    const auto source = text_of(fields, "source_id");
    if (!source) return std::nullopt;
    if (!is_id(*source)) return refuse("source_id", "must be an id of 24 hex digits");
    const auto named = text_of(fields, "changeset_id");
    if (named && *named != *source) return refuse("source_id", "is not the changeset_id");
    fields["changeset_id"] = json_string(*source);
    return std::nullopt;
}

}  // namespace

void create_temp_environment(Call call) {
    auto fields = read_fields(call.request, {{"name", Form::name},
                                             {"kind", Form::name},
                                             {"source_id", Form::name},
                                             {"runtime_profile_id", Form::id},
                                             {"changeset_id", Form::id},
                                             {"ttl_seconds", Form::integer}});
    const auto decide = [](EntityChanges& changes, Wish wish) -> Result<EntityAnswer> {
        if (auto refusal = read_source(wish.fields)) return *std::move(refusal);
        return rules::create_temp_environment(changes, wish.caller, wish.app,
                                              std::move(wish.fields));
    };
    change(std::move(call), "", 201, std::move(fields), decide);
}

void list_temp_environments(Call call) {
    list_in_app(std::move(call), "temp_environment");
}

void get_temp_environment(Call call) {
    get_in_app(std::move(call), "temp_environment");
}

void expire_temp_environment(Call call) {
    act(std::move(call), "temp_environment", rules::expire_temp_environment);
}

}  // namespace sluice::http::apps
