#include "application/apps/app_changes.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"
#include "json/json_values.hpp"

namespace sluice::http::apps {

void create_release(Call call) {
    auto fields = read_fields(
        call.request,
        {{"name", Form::name}, {"description", Form::text}, {"changeset_ids", Form::ids}});
    change(std::move(call), "", 201, std::move(fields), [](EntityChanges& changes, Wish wish) {
        const auto changesets = texts_of(wish.fields, "changeset_ids");
        wish.fields.erase("changeset_ids");
        return rules::create_release(changes, wish.caller, wish.app, std::move(wish.fields),
                                     changesets);
    });
}

void list_releases(Call call) {
    list_in_app(std::move(call), "release");
}

void get_release(Call call) {
    get_in_app(std::move(call), "release");
}

void assemble_release(Call call) {
    act(std::move(call), "release", rules::assemble_release);
}

void publish_release(Call call) {
    act(std::move(call), "release", rules::publish_release);
}

void roll_back_release(Call call) {
    act(std::move(call), "release", rules::roll_back_release);
}

}  // namespace sluice::http::apps
