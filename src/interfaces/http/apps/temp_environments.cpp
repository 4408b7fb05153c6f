#include "application/apps/app_changes.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"

namespace sluice::http::apps {

void create_temp_environment(Call call) {
    auto fields = read_fields(call.request, {{"name", Form::name},
                                             {"runtime_profile_id", Form::id},
                                             {"changeset_id", Form::id},
                                             {"ttl_seconds", Form::integer}});
    change(std::move(call), 201, std::move(fields), [](EntityDesk& desk, Wish wish) {
        return rules::create_temp_environment(desk, wish.caller, wish.app, std::move(wish.fields));
    });
}

void list_temp_environments(Call call) {
    list_in_app(std::move(call), "temp_environment");
}

void get_temp_environment(Call call) {
    get_in_app(std::move(call), "temp_environment");
}

void expire_temp_environment(Call call) {
    act(std::move(call), rules::expire_temp_environment);
}

}  // namespace sluice::http::apps
