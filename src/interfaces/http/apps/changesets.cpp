#include "application/apps/app_changes.hpp"
#include "application/toolkit/names.hpp"
#include "interfaces/http/apps/entities.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/apps/handlers.hpp"

namespace sluice::http::apps {
namespace {

std::optional<rules::Decision> parse_decision(std::string_view text) {
    if (text == "approve") return rules::Decision::approve;
    if (text == "request_changes") return rules::Decision::request_changes;
    if (text == "reject") return rules::Decision::reject;
    return std::nullopt;
}

// A step to `submitted`, which may bring a new head.
using Submission = Result<EntityAnswer> (*)(EntityChanges&, const Caller&, const std::string& app,
                                            const std::string& id, const std::string& head_sha);
void submit(Call call, Submission submission) {
    auto fields = read_fields(call.request, {{"head_sha", Form::name}});
    change(std::move(call), "changeset", 200, std::move(fields),
           [submission](EntityChanges& changes, Wish wish) {
               const std::string head_sha = take_text(wish.fields, "head_sha");
               return submission(changes, wish.caller, wish.app, wish.id, head_sha);
           });
}

Result<EntityAnswer> decide_review(EntityChanges& changes, Wish wish) {
    const std::string text = take_text(wish.fields, "decision");
    if (text.empty()) return missing_field("decision");
    const auto decision = parse_decision(text);
    if (!decision) return refuse("decision", "must be approve, request_changes or reject");
    const std::string comment = take_text(wish.fields, "comment");
    return rules::review_changeset(changes, wish.caller, wish.app, wish.id, *decision, comment);
}

}  // namespace

void create_changeset(Call call) {
    auto fields = read_fields(call.request, {{"title", Form::name},
                                             {"description", Form::text},
                                             {"head_sha", Form::name},
                                             {"base_sha", Form::name},
                                             {"runtime_profile_id", Form::id}});
    change(std::move(call), "", 201, std::move(fields), [](EntityChanges& changes, Wish wish) {
        return rules::create_changeset(changes, wish.caller, wish.app, std::move(wish.fields));
    });
}

void list_changesets(Call call) {
    list_in_app(std::move(call), "changeset");
}

void get_changeset(Call call) {
    get_in_app(std::move(call), "changeset");
}

void submit_changeset(Call call) {
    submit(std::move(call), rules::submit_changeset);
}

void resubmit_changeset(Call call) {
    submit(std::move(call), rules::resubmit_changeset);
}

void review_changeset(Call call) {
    auto fields = read_fields(
        call.request,
        {{"decision", Form::text}, {"action", Form::text, "decision"}, {"comment", Form::text}});
    change(std::move(call), "changeset", 200, std::move(fields), decide_review);
}

void queue_changeset(Call call) {
    act(std::move(call), "changeset", rules::queue_changeset);
}

void move_changeset_to_draft(Call call) {
    act(std::move(call), "changeset", rules::move_changeset_to_draft);
}

}  // namespace sluice::http::apps
