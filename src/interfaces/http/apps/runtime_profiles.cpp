#include "application/apps/app_changes.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"

namespace sluice::http::apps {
namespace {

const Fields profile_fields{{"name", Form::name},      {"kind", Form::name},
                            {"env_vars", Form::typed}, {"secrets", Form::texts},
                            {"url", Form::text},       {"database", Form::values}};

}  // namespace

void create_profile(Call call) {
    auto fields = read_fields(call.request, profile_fields);
    change(std::move(call), "", 201, std::move(fields), [](EntityChanges& changes, Wish wish) {
        return rules::create_profile(changes, wish.caller, wish.app, std::move(wish.fields));
    });
}

void list_profiles(Call call) {
    list_in_app(std::move(call), "runtime_profile");
}

void get_profile(Call call) {
    get_in_app(std::move(call), "runtime_profile");
}

void update_profile(Call call) {
    auto wanted = read_changes(call.request, profile_fields);
    change(std::move(call), "runtime_profile", 200, std::move(wanted),
           [](EntityChanges& changes, Wish wish) {
               return rules::update_profile(changes, wish.caller, wish.app, wish.id, wish.fields);
           });
}

}  // namespace sluice::http::apps
