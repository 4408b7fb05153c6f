#include "interfaces/cli/limits/control_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "domain/values/duration_text.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

constexpr const char* events_page = "1000";

JsonObject member_object(const JsonObject& object, const char* name) {
    const std::string* text = object.raw(name);
    return JsonObject(text ? *text : "");
}

bool is_true(const JsonObject& rule, const char* name) {
    return rule.text(name) == "true";
}

// The rate of other rules than quotas, which have a number per hour.
std::string rate_part(const JsonObject& rule) {
    const auto count = parse_integer(rule.text("rate_count"));
    const auto period = parse_integer(rule.text("rate_period_ms"));
    if (!count || !period || is_true(rule, "rate_whole_hour")) return "";
    return rate_text({*count, *period});
}

std::string hourly_part(const JsonObject& rule) {
    return is_true(rule, "rate_whole_hour") ? rule.text("rate_count") : "";
}

std::string until_part(const JsonObject& rule) {
    const auto at = parse_rfc3339(rule.text("until"));
    return at ? absolute_time(*at) : "";
}

std::string submits_part(const JsonObject& rule) {
    return is_true(rule, "refuses_submits") ? "refused" : "";
}

struct Part {
    const char* name;
    std::string value;
};

// What may change of a rule, by the names of the API, but for pauses: what was done tells these.
std::vector<Part> parts_of(const JsonObject& rule) {
    std::vector<Part> parts;
    for (const char* name : {"name", "profile", "tenant", "type", "queue", "source", "per"}) {
        parts.push_back({name, rule.text(name)});
    }
    parts.push_back({"max_active", rule.text("max_active")});
    parts.push_back({"rate", rate_part(rule)});
    parts.push_back({"max_per_hour", hourly_part(rule)});
    parts.push_back({"burst", rule.text("rate_burst")});
    parts.push_back({"submits", submits_part(rule)});
    parts.push_back({"until", until_part(rule)});
    parts.push_back({"tenants", rule.text("tenants")});  // of a profile
    return parts;
}

// Whether the title of a rule without a name has it.
bool is_of_the_title(const std::string& part) {
    static const std::vector<std::string> names{"profile", "tenant", "type",
                                                "queue",   "source", "per"};
    return std::find(names.begin(), names.end(), part) != names.end();
}

// "max_active 8 -> 16, until none"
std::string change_text(const JsonObject& before, const JsonObject& after) {
    const std::vector<Part> old_parts = parts_of(before), new_parts = parts_of(after);
    const bool is_new = before.members().empty(), has_name = !after.text("name").empty();
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < new_parts.size(); ++i) {
        const std::string& from = old_parts[i].value;
        const std::string& to = new_parts[i].value;
        const std::string name = new_parts[i].name;
        if (from == to) continue;
        if (is_new && (has_name ? name == "name" : is_of_the_title(name))) continue;
        texts.push_back(is_new ? fmt::format("{} {}", name, to)
                               : fmt::format("{} {} -> {}", name, from.empty() ? "none" : from,
                                             to.empty() ? "none" : to));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string what_was_done(const std::string& action, const JsonObject& before,
                          const JsonObject& after) {
    const JsonObject& rule = after.members().empty() ? before : after;
    const std::string kind = rule.text("kind");
    const bool was_paused = is_true(before, "paused"), is_paused = is_true(after, "paused");
    if (action == "rule_added") {
        if (kind == "maintenance") return "started";
        if (kind == "block") return "blocked";
        return is_paused ? "paused" : "added";
    }
    if (action == "rule_changed") {
        if (was_paused != is_paused) return is_paused ? "paused" : "resumed";
        return "changed";
    }
    if (action == "rule_lifted") {
        if (kind == "maintenance") return "ended";
        return kind == "block" ? "unblocked" : "lifted";
    }
    if (action == "profile_changed") return "changed";
    if (action == "created") return "begun";
    if (action == "meters_repaired") return "repaired";
    std::string text = action;
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

// What the event is about, in words.
std::string subject_text(const std::string& action, const JsonObject& detail,
                         const JsonObject& rule) {
    const std::string profile = detail.text("profile");
    if (!profile.empty()) return "profile " + profile;
    if (!detail.text("rule").empty()) return rule_title(rule);
    if (action == "created") return "this history";
    if (action == "configured") return "the configuration";
    return action == "meters_repaired" ? "what rules have counted" : "";
}

}  // namespace

std::string rule_title(const JsonObject& rule) {
    const std::string kind = rule.text("kind"), name = rule.text("name");
    if (!name.empty()) return kind + " " + name;
    return kind + " for " + covers_text(rule);
}

std::string with_change(const std::string& text) {
    const JsonObject event(text);
    const JsonObject detail = member_object(event, "detail");
    const JsonObject before = member_object(detail, "before");
    const JsonObject after = member_object(detail, "after");
    const JsonObject& rule = after.members().empty() ? before : after;
    const std::string id = detail.text("rule"), profile = detail.text("profile");
    const bool is_lift = event.text("action") == "rule_lifted";
    return json_object_text([&](JsonWriter& out) {
        for (const auto& [name, value] : event.members()) out.raw_field(name, value);
        out.field("subject", id.empty() ? profile : id);
        out.field("id", id);
        out.field("name", id.empty() ? profile : rule.text("name"));
        out.field("rule", subject_text(event.text("action"), detail, rule));
        out.field("what", what_was_done(event.text("action"), before, after));
        out.field("change", is_lift ? std::string() : change_text(before, after));
        out.field("reason", detail.text("reason"));
        out.field("ticket", detail.text("ticket"));
    });
}

bool is_about(const JsonObject& event, const std::string& word) {
    const std::string id = event.text("id");
    return (!id.empty() && id.starts_with(word)) || event.text("name") == word;
}

std::vector<std::string> control_history(client::Client& client) {
    std::vector<std::string> events;
    for (std::string after = "0"; !after.empty();) {
        const std::string path =
            "/api/v1/limits/history" + query_text({{"after", after}, {"limit", events_page}});
        const std::vector<std::string> page = listed(client.call("GET", path, "", true));
        events.insert(events.end(), page.begin(), page.end());
        after = page.empty() ? "" : JsonObject(page.back()).text("seq");
    }
    return events;
}

}  // namespace sluice::cli
