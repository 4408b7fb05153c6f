// Apps and their members.
#include "application/apps/app_changes.hpp"
#include "application/toolkit/names.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/entity_json.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_values.hpp"

namespace sluice::http::apps {
namespace {

// Attribute "members" of an app: an object with a role for each user.
Page<Attributes::value_type> read_members(const Entity& app, const PageQuery& query) {
    const auto kept = app.attributes.find("members");
    const Attributes members =
        kept == app.attributes.end() ? Attributes() : json_members(kept->second);
    Page<Attributes::value_type> page;
    for (const auto& member : members) {
        const std::int64_t index = page.total++;
        if (index >= query.offset() && index < query.offset() + query.limit) {
            page.items.push_back(member);
        }
    }
    return page;
}

// Without its members, which have a list of their own.
void write_app(JsonWriter& json, Entity app, const SecretMarks& secrets) {
    app.attributes.erase("members");
    write_entity(json, app, secrets);
}

Show app_response(const App& app) {
    return [&secrets = app.rules.secrets](int status, const EntityAnswer& answer) {
        return data(status, [&](JsonWriter& json) { write_app(json, *answer.entity, secrets); });
    };
}

void write_member(JsonWriter& json, const Attributes::value_type& member) {
    json.begin_object();
    json.field("user", member.first);
    json.raw_field("role", member.second);
    json.end_object();
}

Result<EntityAnswer> decide_member(EntityChanges& changes, Wish wish) {
    const std::string user = take_text(wish.fields, "user");
    if (user.empty()) return missing_field("user");
    const std::string text = take_text(wish.fields, "role");
    if (text.empty()) return missing_field("role");
    const auto role = rules::parse_role(text);
    if (!role) return refuse("role", "must be user, reviewer, config_manager or app_admin");
    return rules::put_member(changes, wish.caller, wish.app, user, *role);
}

}  // namespace

void create_app(Call call) {
    auto fields = read_fields(call.request, {{"id", Form::id},
                                             {"name", Form::name},
                                             {"repo_path", Form::text},
                                             {"integration_branch", Form::text},
                                             {"approvals_required", Form::integer},
                                             {"gates", Form::texts}});
    const auto decide = [](EntityChanges& changes, Wish wish) {
        std::string id = take_text(wish.fields, "id");
        return rules::create_app(changes, wish.caller, std::move(id), std::move(wish.fields));
    };
    Show show = app_response(call.app);
    change(std::move(call), "", 201, std::move(fields), decide, std::move(show));
}

// The apps that the caller is a member of.
void list_apps(Call call) {
    const std::string& request_id = call.request.request_id;
    const auto params = read_query(call.request, {"page", "limit"});
    if (!params) return call.reply.send(refusal_of(params.error(), request_id));
    const auto query = read_page_query(*params);
    if (!query) return call.reply.send(refusal_of(query.error(), request_id));
    const Choice of_caller{.filter = {.tenant = call.caller->tenant, .kind = "app"},
                           .accepts = [caller = *call.caller](const Entity& app) {
                               return rules::role_of(app, caller).has_value();
                           }};
    const auto write = [&secrets = call.app.rules.secrets](JsonWriter& json, const Entity& app) {
        write_app(json, app, secrets);
    };
    answer_from_store(call, entity_page(*query, of_caller, write), refusal_of);
}

void get_app(Call call) {
    const auto params = read_query(call.request, {});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_in_app(std::move(call), [&secrets](JobReader&, const Entity& app) -> Result<Response> {
        return data(200, [&](JsonWriter& json) { write_app(json, app, secrets); });
    });
}

void update_app(Call call) {
    auto wanted = read_changes(call.request, {{"name", Form::name},
                                              {"repo_path", Form::text},
                                              {"integration_branch", Form::text},
                                              {"approvals_required", Form::integer},
                                              {"gates", Form::texts}});
    const auto decide = [](EntityChanges& changes, Wish wish) {
        return rules::update_app(changes, wish.caller, wish.app, wish.fields);
    };
    Show show = app_response(call.app);
    change(std::move(call), "", 200, std::move(wanted), decide, std::move(show));
}

void list_members(Call call) {
    const auto params = read_query(call.request, {"page", "limit"});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const auto query = read_page_query(*params);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    ask_in_app(std::move(call),
               [query = *query](JobReader&, const Entity& app) -> Result<Response> {
                   return page_response(query, read_members(app, query), write_member);
               });
}

void put_member(Call call) {
    auto fields =
        read_fields(call.request,
                    {{"user", Form::name}, {"user_id", Form::name, "user"}, {"role", Form::name}});
    const Attributes member = fields ? *fields : Attributes();
    const Show show = [member](int status, const EntityAnswer&) {
        return data(status, [&](JsonWriter& json) { json.raw_value(to_json(member)); });
    };
    change(std::move(call), "", 201, std::move(fields), decide_member, show);
}

}  // namespace sluice::http::apps
