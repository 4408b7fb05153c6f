#include "interfaces/cli/limits/rule_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "domain/values/duration_text.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/sheet.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

std::int64_t number(const JsonObject& object, const char* name) {
    return parse_integer(object.text(name)).value_or(0);
}

std::optional<client::Time> moment(const JsonObject& object, const char* name) {
    return parse_rfc3339(object.text(name));
}

std::vector<JsonObject> meters_of(const JsonObject& rule) {
    const std::vector<std::string> texts = rule.elements("meters");
    return {texts.begin(), texts.end()};
}

bool is_halt(const JsonObject& rule) {
    const std::string kind = rule.text("kind");
    return kind == "maintenance" || kind == "block";
}

// "8/8" of one meter; "20, 8 each" of several. During a halt also "0": what ran has ended.
std::string use_text(const JsonObject& rule) {
    const std::string max = rule.text("max_active");
    const std::string active = rule.text("active");
    if (max.empty()) return active == "0" && !is_halt(rule) ? "" : active;
    if (number(rule, "meter_count") > 1) return fmt::format("{}, {} each", active, max);
    return fmt::format("{}/{}", active.empty() ? "0" : active, max);
}

// "100/s, 20 left", "312/5000 in an hour"
std::string starts_text(const JsonObject& rule) {
    const std::vector<JsonObject> meters = meters_of(rule);
    const bool is_one = meters.size() == 1;
    if (const std::string hourly = rule.text("max_per_hour"); !hourly.empty()) {
        if (!is_one) return hourly + "/h";
        const std::string used = meters.front().text("started_last_hour");
        return fmt::format("{}/{} in an hour", used.empty() ? "0" : used, hourly);
    }
    const std::string* rate = rule.raw("rate");
    if (!rate || *rate == "null") return "";
    const JsonObject parts(*rate);
    const std::string text = rate_text({number(parts, "count"), number(parts, "period_ms")});
    const std::string left = is_one ? meters.front().text("tokens") : "";
    return left.empty() ? text : fmt::format("{}, {} left", text, left);
}

std::string held_text(const JsonObject& rule) {
    const std::string waiting = rule.text("waiting");
    return waiting == "0" ? "" : capped_text(rule, "waiting");
}

std::string opening_text(const JsonObject& meter) {
    const auto at = moment(meter, "next_eligible_at");
    if (!at || *at <= now()) return "full";
    return "for " + short_duration(*at - now());
}

std::string closed_text(const JsonObject& rule) {
    if (rule.text("paused") == "true") return "paused";
    const std::vector<JsonObject> meters = meters_of(rule);
    const auto is_closed = [](const JsonObject& meter) { return meter.text("open") == "false"; };
    const auto closed = std::count_if(meters.begin(), meters.end(), is_closed);
    if (closed == 0) return "";
    if (meters.size() == 1) return opening_text(meters.front());
    return fmt::format("{} of {}", closed, rule.text("meter_count"));
}

// Whether the engine takes jobs meanwhile; of a halt only.
std::string submits_text(const JsonObject& rule) {
    if (!is_halt(rule)) return "";
    return rule.text("refuses_submits") == "true" ? "refused" : "taken";
}

std::string origin_text(const JsonObject& rule) {
    return rule.text("configured") == "true" ? "configuration" : rule.text("actor");
}

// The rule as it came, with the fields for people.
std::string with_view(const std::string& json) {
    const JsonObject rule(json);
    return json_object_text([&](JsonWriter& out) {
        for (const auto& [name, value] : rule.members()) out.raw_field(name, value);
        out.field("covers", covers_text(rule));
        out.field("use", use_text(rule));
        out.field("starts", starts_text(rule));
        out.field("held", held_text(rule));
        out.field("closed", closed_text(rule));
        out.field("submits", submits_text(rule));
        out.field("origin", origin_text(rule));
    });
}

const Listing& meter_listing() {
    static const Listing listing{
        .name = "meters",
        .id_field = "meter",
        .fields = {"meter", "active", "tokens", "started_last_hour", "held", "open",
                   "next_eligible_at"},
        .table = {{"meter", "METER"},
                  {"active", "ACTIVE"},
                  {"tokens", "LEFT"},
                  {"started_last_hour", "LAST HOUR"},
                  {"held", "WAITING"},
                  {"open", "OPEN"},
                  {"next_eligible_at", "NEXT"}},
        .wide = {},
        .plain = {},
    };
    return listing;
}

void print_sheet(const Session& session, const JsonObject& rule) {
    Sheet sheet(session.out());
    sheet.title(fmt::format("{} {}  {}", printable(rule.text("kind")),
                            session.out().painted(Style::bold, printable(rule.text("id"))),
                            printable(rule.text("name"))));
    sheet.line("covers", printable(covers_text(rule)));
    sheet.line("active", use_text(rule));
    sheet.line("starts", starts_text(rule));
    sheet.line("burst", rule.text("burst"));
    sheet.line("waiting", held_text(rule));
    sheet.line("closed", closed_text(rule));
    sheet.line("submits", submits_text(rule));
    sheet.time("until", moment(rule, "until"));
    sheet.line("reason", printable(rule.text("reason")));
    sheet.line("ticket", printable(rule.text("ticket")));
    sheet.line("by", printable(origin_text(rule)));
    sheet.time("since", moment(rule, "since"));
    sheet.line("revision", rule.text("revision"));
    session.put(sheet.text());
}

// "holds back 12 jobs that wait now, and lets 3 go"
std::string effect_text(const JsonObject& effect, bool is_dry) {
    const std::int64_t held = number(effect, "held_back"), gone = number(effect, "let_go");
    const char* more = effect.text("more") == "true" ? " or more" : "";
    const auto jobs = [](std::int64_t count, const char* one, const char* several) {
        return count == 1 ? one : several;
    };
    if (held == 0 && gone == 0) {
        const std::string covered = capped_text(effect, "covered");
        const bool covers_some = !covered.empty() && covered != "0";
        return fmt::format("{}{}",
                           is_dry ? "would hold back no job that waits now, and let none go"
                                  : "holds back no job that waits now, and lets none go",
                           covers_some ? "; waiting jobs that it covers: " + covered : "");
    }
    std::string text;
    if (held > 0) {
        text = fmt::format("{} {}{} {} now", is_dry ? "would hold back" : "holds back", held, more,
                           jobs(held, "job that waits", "jobs that wait"));
    }
    if (gone > 0) {
        text += fmt::format("{}{} {}{} {} go", text.empty() ? "" : ", and ",
                            is_dry ? "would let" : "lets", gone, more, jobs(gone, "job", "jobs"));
    }
    return text;
}

std::vector<std::string> rules_of(const std::string& answer) {
    const JsonObject object(answer);
    if (object.raw("lifted")) return object.elements("lifted");
    return {answer};
}

}  // namespace

std::string covers_text(const JsonObject& rule) {
    std::vector<std::string> parts;
    for (const char* field : {"profile", "tenant", "type", "queue", "source"}) {
        if (const std::string value = rule.text(field); !value.empty()) {
            parts.push_back(fmt::format("{} {}", field, value));
        }
    }
    for (const std::string& dimension : rule.elements("per")) {
        const std::string name = decoded_json_string(dimension).value_or("");
        if (rule.text(name).empty() || rule.text(name).ends_with('*')) {
            parts.push_back("each " + name);
        }
    }
    return parts.empty() ? "all jobs" : fmt::format("{}", fmt::join(parts, ", "));
}

const Listing& rule_listing() {
    static const Listing listing{
        .name = "rules",
        .id_field = "id",
        .fields = {"id",       "kind",           "name",    "profile",
                   "tenant",   "type",           "queue",   "source",
                   "per",      "max_active",     "rate",    "max_per_hour",
                   "burst",    "paused",         "until",   "configured",
                   "reason",   "ticket",         "actor",   "since",
                   "revision", "active",         "waiting", "waiting_more",
                   "meters",   "meter_count",    "covers",  "use",
                   "starts",   "held",           "closed",  "origin",
                   "submits",  "refuses_submits"},
        .table = {{"id", "ID"},
                  {"kind", "KIND"},
                  {"name", "NAME"},
                  {"covers", "COVERS"},
                  {"use", "ACTIVE"},
                  {"starts", "STARTS"},
                  {"held", "WAITING"},
                  {"closed", "CLOSED"},
                  {"submits", "SUBMITS"},
                  {"until", "ENDS"},
                  {"origin", "BY"},
                  {"reason", "REASON"}},
        .wide = {{"ticket", "TICKET"}, {"since", "SINCE"}, {"revision", "REVISION"}},
        .plain = {"id", "kind", "name", "profile", "tenant", "type", "queue", "source", "per",
                  "active", "max_active", "starts", "waiting", "paused", "until", "configured",
                  "actor", "reason", "ticket"},
    };
    return listing;
}

void print_rules(const Session& session, const std::string& document, const char* name) {
    Listing listing = rule_listing();
    listing.name = name;
    if (listing.name == "maintenance") listing.plain.emplace_back("submits");
    std::vector<std::string> rules = listed(document);
    if (!session.prints_json() || session.has_fields()) {
        for (std::string& rule : rules) rule = with_view(rule);
    }
    print_listing(session, listing, rules, {.json = document});
}

void print_rule(const Session& session, const std::string& rule) {
    const bool is_sheet = !session.has_fields() && (session.format() == OutputFormat::table ||
                                                    session.format() == OutputFormat::wide);
    if (!is_sheet) {
        const bool is_raw = session.prints_json() && !session.has_fields();
        return print_object(session, rule_listing(), is_raw ? rule : with_view(rule));
    }
    const JsonObject object(rule);
    print_sheet(session, object);
    std::vector<std::string> meters = object.elements("meters");
    if (meters.size() < 2) return;
    for (std::string& meter : meters) meter = with_capped(meter, "waiting", "held");
    print_listing(session, meter_listing(), meters, {});
    const std::int64_t count = number(object, "meter_count");
    if (count > std::ssize(meters))
        session.say(fmt::format("the busiest {} of {}", meters.size(), count));
}

void print_change(const Session& session, const ChangeFlags& flags, const std::string& answer) {
    const JsonObject object(answer);
    for (const std::string& warning : object.elements("warnings")) {
        session.say("warning: " + printable(decoded_json_string(warning).value_or("")));
    }
    const bool is_raw = session.prints_json() && !session.has_fields();
    if (is_raw) return print_object(session, rule_listing(), answer);
    if (session.was_asked_for_a_format() || session.has_fields()) {
        std::vector<std::string> rules = rules_of(answer);
        for (std::string& rule : rules) rule = with_view(rule);
        return print_listing(session, rule_listing(), rules, {});
    }
    if (!flags.dry_run) {
        for (const std::string& rule : rules_of(answer)) {
            const std::string id = JsonObject(rule).text("id");
            if (!id.empty()) session.put_line(printable(id));
        }
    }
    const std::string* effect = object.raw("effect");
    if (effect && *effect != "null") {
        session.say("it " + effect_text(JsonObject(*effect), flags.dry_run));
    }
}

std::string capped_text(const JsonObject& object, const std::string& name) {
    return object.text(name) + (object.text(name + "_more") == "true" ? "+" : "");
}

std::string with_capped(const std::string& json, const std::string& name,
                        const std::string& shown) {
    const JsonObject object(json);
    return json_object_text([&](JsonWriter& out) {
        for (const auto& [member, value] : object.members()) out.raw_field(member, value);
        out.field(shown, capped_text(object, name));
    });
}

std::vector<std::string> listed(const std::string& document) {
    const JsonObject object(document);
    for (const auto& [name, value] : object.members()) {
        if (value.starts_with('[')) return object.elements(name);
    }
    return {};
}

}  // namespace sluice::cli
