// Environments, what is deployed to them, and how far they are from what was checked.
#include "application/apps/app_changes.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/entity_json.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "json/json_values.hpp"

namespace sluice::http::apps {
namespace {

Response drift_response(EntityReader& entities, const Entity& environment) {
    const auto parts = rules::drifted_parts(entities, environment);
    const auto validated = environment.attributes.find("validated");
    return data(200, [&](JsonWriter& json) {
        json.begin_object();
        json.field("environment_id", environment.key.id);
        json.field("drifted", !parts.empty());
        json.raw_field("parts", json_list(parts));
        json.raw_field("current", to_json(rules::fingerprint(entities, environment)));
        json.raw_field("validated", validated == environment.attributes.end()
                                        ? std::string_view("null")
                                        : std::string_view(validated->second));
        json.end_object();
    });
}

}  // namespace

void create_environment(Call call) {
    auto fields =
        read_fields(call.request, {{"name", Form::name}, {"runtime_profile_id", Form::id}});
    change(std::move(call), "", 201, std::move(fields), [](EntityChanges& changes, Wish wish) {
        return rules::create_environment(changes, wish.caller, wish.app, std::move(wish.fields));
    });
}

void list_environments(Call call) {
    list_in_app(std::move(call), "environment");
}

void get_environment(Call call) {
    get_in_app(std::move(call), "environment");
}

void update_environment(Call call) {
    auto wanted =
        read_changes(call.request, {{"name", Form::name}, {"runtime_profile_id", Form::id}});
    change(std::move(call), "environment", 200, std::move(wanted),
           [](EntityChanges& changes, Wish wish) {
               return rules::update_environment(changes, wish.caller, wish.app, wish.id,
                                                wish.fields);
           });
}

void deploy(Call call) {
    auto fields = read_fields(call.request, {{"release_id", Form::id}});
    const auto decide = [](EntityChanges& changes, Wish wish) -> Result<EntityAnswer> {
        const std::string release = take_text(wish.fields, "release_id");
        if (release.empty()) return missing_field("release_id");
        return rules::deploy_release(changes, wish.caller, wish.app, wish.id, release);
    };
    change(std::move(call), "environment", 201, std::move(fields), decide);
}

void check_drift(Call call) {
    act(std::move(call), "environment", rules::check_drift, 202);
}

void get_drift(Call call) {
    const auto params = read_query(call.request, {});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const std::string id(call.param(1));
    ask_in_app(std::move(call), [id](JobReader& reader, const Entity& app) -> Result<Response> {
        const auto found = rules::find_in_app(reader.entities(), app, "environment", id);
        if (!found) return found.error();
        return drift_response(reader.entities(), *found);
    });
}

void list_migrations(Call call) {
    const auto params = read_query(call.request, {"page", "limit"});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const auto query = read_page_query(*params);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    const std::string id(call.param(1));
    const SecretMarks& secrets = call.app.rules.secrets;
    list_of_app(
        std::move(call),
        [id, query = *query, &secrets](JobReader& reader, const Entity& app) -> Result<StorePiece> {
            const auto found = rules::find_in_app(reader.entities(), app, "environment", id);
            if (!found) return found.error();
            const Choice of_environment{
                .filter = {.tenant = app.key.tenant, .kind = "migration", .parent = app.key.id},
                .accepts = [id](const Entity& migration) {
                    return text_of(migration.attributes, "environment_id") == id;
                }};
            const auto write = [&secrets](JsonWriter& json, const Entity& entity) {
                write_entity(json, entity, secrets);
            };
            return entity_page(query, of_environment, write)(reader);
        });
}

void list_deployments(Call call) {
    list_in_app(std::move(call), "deployment");
}

void get_deployment(Call call) {
    get_in_app(std::move(call), "deployment");
}

}  // namespace sluice::http::apps
