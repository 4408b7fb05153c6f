#include <fmt/format.h>

#include <algorithm>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_reader.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

bool is_author(const Entity& changeset, const Caller& caller) {
    return text_of(changeset.attributes, "author") == name_of(caller);
}

// The changeset, if the caller may send it on: its author and config_managers may.
Result<Entity> find_own(EntityChanges& changes, const Caller& caller, const std::string& app_id,
                        const std::string& id) {
    const auto app = find_app(changes, caller, app_id, Role::user);
    if (!app) return app.error();
    auto changeset = find_in_app(changes, *app, "changeset", id);
    if (!changeset) return changeset.error();
    if (is_author(*changeset, caller) || role_of(*app, caller) >= Role::config_manager) {
        return changeset;
    }
    return Error{ErrorCode::forbidden,
                 "only the author of a changeset, or a config_manager, may do this",
                 {}};
}

// Reviews, checks and the position in the queue are no longer valid.
void forget_progress(Entity& changeset) {
    changeset.attributes["reviews"] = "[]";
    changeset.attributes.erase("queue_position");
    changeset.attributes.erase("release_id");
}

Result<EntityAnswer> act(EntityChanges& changes, Entity& changeset, std::string_view action) {
    if (auto refusal = changes.act(changeset, action)) return *refusal;
    return EntityAnswer{.entity = changeset};
}

// ── reviews ──

std::string_view to_text(Decision decision) {
    switch (decision) {
        case Decision::approve: return "approve";
        case Decision::request_changes: return "request_changes";
        case Decision::reject: return "reject";
    }
    return {};
}

std::vector<Attributes> reviews_of(const Entity& changeset) {
    std::vector<Attributes> reviews;
    JsonReader reader(json_of(changeset.attributes, "reviews"));
    reader.array([&](std::size_t) { reviews.push_back(json_members(reader.raw())); });
    return reviews;
}

// Adds the review; it replaces an earlier one of the same reviewer.
void put_review(std::vector<Attributes>& reviews, Attributes review) {
    std::erase_if(reviews, [&](const Attributes& before) {
        return text_of(before, "reviewer") == text_of(review, "reviewer");
    });
    reviews.push_back(std::move(review));
}

std::string reviews_json(const std::vector<Attributes>& reviews) {
    std::string out = "[";
    for (const Attributes& review : reviews) {
        if (out.size() > 1) out.push_back(',');
        out += to_json(review);
    }
    return out + "]";
}

bool has_enough_approvals(const Entity& app, const std::vector<Attributes>& reviews) {
    const auto approvals =
        std::count_if(reviews.begin(), reviews.end(), [](const Attributes& review) {
            return text_of(review, "decision") == to_text(Decision::approve);
        });
    return approvals >= integer_of(app.attributes, "approvals_required").value_or(1);
}

// Moves a submitted changeset to review with its first review.
std::optional<Error> enter_review(EntityChanges& changes, Entity& changeset) {
    if (changeset.state == "submitted") {
        if (auto refusal = changes.act(changeset, "start_review")) return refusal;
    }
    if (changeset.state == "in_review") return std::nullopt;
    return Error{ErrorCode::invalid_transition,
                 fmt::format("{} is {}; only what is submitted or in_review can be reviewed",
                             to_text(changeset.key), changeset.state),
                 {}};
}

}  // namespace

Result<EntityAnswer> create_changeset(EntityChanges& changes, const Caller& caller,
                                      const std::string& app_id, Attributes attributes) {
    const auto app = find_app(changes, caller, app_id, Role::user);
    if (!app) return app.error();
    if (auto refusal = check_profile(changes, *app, attributes, ProfileUse::temporary)) {
        return *refusal;
    }
    attributes["author"] = json_string(name_of(caller));
    attributes["reviews"] = "[]";
    const auto changeset = changes.create(part_of(*app, "changeset", std::move(attributes)));
    if (!changeset) return changeset.error();
    return EntityAnswer{.entity = *changeset};
}

Result<EntityAnswer> submit_changeset(EntityChanges& changes, const Caller& caller,
                                      const std::string& app_id, const std::string& id,
                                      const std::string& head_sha) {
    auto changeset = find_own(changes, caller, app_id, id);
    if (!changeset) return changeset.error();
    if (!head_sha.empty()) changeset->attributes["head_sha"] = json_string(head_sha);
    if (text_of(changeset->attributes, "head_sha").value_or("").empty()) {
        return refuse("head_sha", "is required: it says what is submitted");
    }
    forget_progress(*changeset);
    return act(changes, *changeset, "submit");
}

Result<EntityAnswer> resubmit_changeset(EntityChanges& changes, const Caller& caller,
                                        const std::string& app_id, const std::string& id,
                                        const std::string& head_sha) {
    auto changeset = find_own(changes, caller, app_id, id);
    if (!changeset) return changeset.error();
    if (allows(changes, *changeset, "resubmit")) {
        if (head_sha.empty()) return refuse("head_sha", "is required: it says what is submitted");
        if (text_of(changeset->attributes, "head_sha") == head_sha) {
            return refuse("head_sha", "must differ from the one that was submitted before");
        }
    }
    changeset->attributes["head_sha"] = json_string(head_sha);
    forget_progress(*changeset);
    return act(changes, *changeset, "resubmit");
}

Result<EntityAnswer> review_changeset(EntityChanges& changes, const Caller& caller,
                                      const std::string& app_id, const std::string& id,
                                      Decision decision, const std::string& comment) {
    const auto app = find_app(changes, caller, app_id, Role::reviewer);
    if (!app) return app.error();
    auto changeset = find_in_app(changes, *app, "changeset", id);
    if (!changeset) return changeset.error();
    if (is_author(*changeset, caller)) {
        return Error{ErrorCode::forbidden, "the author of a changeset cannot review it", {}};
    }
    if (auto refusal = enter_review(changes, *changeset)) return *refusal;

    Attributes review{{"reviewer", json_string(name_of(caller))},
                      {"decision", json_string(to_text(decision))},
                      {"comment", json_string(comment)},
                      {"at", json_time(changes.now())}};
    std::vector<Attributes> reviews = reviews_of(*changeset);
    put_review(reviews, review);
    changeset->attributes["reviews"] = reviews_json(reviews);
    if (decision == Decision::approve && !has_enough_approvals(*app, reviews)) {
        changes.save(*changeset, "reviewed", to_json(review));
        return EntityAnswer{.entity = *changeset};
    }
    if (auto refusal = changes.act(*changeset, to_text(decision), to_json(review))) {
        return *refusal;
    }
    return EntityAnswer{.entity = *changeset};
}

Result<EntityAnswer> queue_changeset(EntityChanges& changes, const Caller& caller,
                                     const std::string& app_id, const std::string& id) {
    const auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    auto changeset = find_in_app(changes, *app, "changeset", id);
    if (!changeset) return changeset.error();
    const std::vector<Entity> queued = queued_changesets(changes, *app);
    const std::int64_t last =
        queued.empty() ? 0 : integer_of(queued.back().attributes, "queue_position").value_or(0);
    changeset->attributes["queue_position"] = std::to_string(last + 1);
    return act(changes, *changeset, "queue");
}

Result<EntityAnswer> move_changeset_to_draft(EntityChanges& changes, const Caller& caller,
                                             const std::string& app_id, const std::string& id) {
    auto changeset = find_own(changes, caller, app_id, id);
    if (!changeset) return changeset.error();
    forget_progress(*changeset);
    return act(changes, *changeset, "move_to_draft");
}

}  // namespace sluice::apps
