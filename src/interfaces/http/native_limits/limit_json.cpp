#include "interfaces/http/native_limits/limit_json.hpp"

#include <fmt/format.h>

#include "domain/values/sha256.hpp"

namespace sluice::http::native {
namespace {

void write_rate(JsonWriter& json, const std::optional<LimitRate>& rate) {
    json.key("rate");
    if (!rate) return json.value(nullptr);
    json.begin_object();
    json.field("count", rate->count);
    json.field("period_ms", to_millis(rate->period));
    json.field("burst", rate->burst);
    json.end_object();
}

void write_dimensions(JsonWriter& json, const LimitRule& rule) {
    json.key("per");
    json.begin_array();
    for (const Dimension dimension : all_dimensions) {
        if (rule.per.has(dimension)) json.value(to_text(dimension));
    }
    json.end_array();
}

void write_meter(JsonWriter& json, const MeterUse& meter, const LimitRule& rule, Timestamp now) {
    const bool is_open = meter.room.count > 0;
    json.text_or_null("meter", meter.meter);
    json.field("active", rule.max_active ? meter.state.active : meter.active);
    json.field("tokens", rule.rate ? std::optional(meter.tokens) : std::nullopt);
    json.field("started_last_hour", rule.rate && rule.rate->whole_hour
                                        ? std::optional(meter.state.starts.sum(now))
                                        : std::nullopt);
    json.field("waiting", meter.waiting);
    json.field("waiting_more", meter.is_more);
    json.field("open", is_open);
    json.field("next_eligible_at", is_open ? std::nullopt : meter.room.not_before);
}

// Whole thousandths, so that the text is short.
std::string rate_text(std::int64_t part, std::int64_t whole) {
    const std::int64_t thousandths = (part * 1000 + whole / 2) / whole;
    return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

}  // namespace

void write_rule(JsonWriter& json, const LimitRule& rule) {
    json.text_or_null("id", rule.id);
    json.field("kind", to_text(rule.kind));
    json.text_or_null("name", rule.name);
    json.text_or_null("profile", rule.profile);
    for (const Dimension dimension : all_dimensions) {
        json.text_or_null(to_text(dimension), rule.scope.pattern(dimension));
    }
    write_dimensions(json, rule);
    json.field("max_active", rule.max_active);
    write_rate(json, rule.rate);
    if (rule.kind == LimitKind::quota) {
        json.field("max_per_hour", rule.rate ? std::optional(rule.rate->count) : std::nullopt);
        json.field("burst", rule.rate ? std::optional(rule.rate->burst) : std::nullopt);
    }
    json.field("paused", rule.paused);
    json.field("refuses_submits", rule.refuses_submits);
    json.field("until", rule.until);
    json.field("configured", rule.configured);
    json.text_or_null("reason", rule.reason);
    json.text_or_null("ticket", rule.ticket);
    json.text_or_null("actor", rule.actor);
    json.field("since", rule.since);
    json.field("revision", rule.revision);
}

void write_rule_use(JsonWriter& json, const RuleUse& use, Timestamp now) {
    write_rule(json, use.rule);
    json.field("active", use.active);
    json.field("waiting", use.waiting);
    json.field("waiting_more", use.is_more);
    json.objects("meters", use.meters,
                 [&](const MeterUse& meter) { write_meter(json, meter, use.rule, now); });
    json.field("meter_count", use.meter_count);
}

void write_effect(JsonWriter& json, const LimitAnswer& answer, bool dry_run) {
    json.field("dry_run", dry_run);
    json.object("effect", [&] {
        json.field("held_back", answer.effect.held_back);
        json.field("let_go", answer.effect.let_go);
        json.field("more", answer.effect.is_more);
        json.field("covered", answer.effect.covered);
        json.field("covered_more", answer.effect.is_more_covered);
    });
    json.list("warnings", answer.warnings);
}

std::string start_text(const StartNow& start) {
    return json_object_text([&](JsonWriter& json) {
        json.field("can_start", start.held_by.empty());
        json.objects("held_by", start.held_by, [&](const HeldBy& held) {
            json.field("code", held.code);
            json.field("detail", held.detail);
            json.field("rule", held.rule);
            json.field("until", held.until);
        });
        json.field("next_eligible_at", start.next_eligible_at);
    });
}

std::string differences_text(const MeterDifferences& differences, bool repaired) {
    return json_object_text([&](JsonWriter& json) {
        json.objects("differences", differences, [&](const MeterDifference& difference) {
            json.field("rule", difference.rule);
            json.text_or_null("meter", difference.meter);
            json.field("counted", difference.counted);
            json.field("leased", difference.leased);
        });
        json.field("repaired", repaired);
    });
}

void write_source(JsonWriter& json, const SourceNow& source) {
    const SourceCount& day = source.last_day;
    const std::int64_t ended = day.succeeded + day.failed;
    const std::optional<LimitRule>& pause = source.pause;
    json.field("source", day.source);
    json.text_or_null("tenant", day.tenant);
    json.field("queued", source.queued);
    json.field("queued_more", source.is_more);
    json.field("active", source.active);
    json.field("submitted_24h", day.submitted);
    json.field("succeeded_24h", day.succeeded);
    json.field("failed_24h", day.failed);
    json.raw_field("failure_rate", ended == 0 ? "null" : rate_text(day.failed, ended));
    json.field("last_job_at", day.last_job_at);
    json.field("paused", pause.has_value());
    json.text_or_null("reason", pause ? pause->reason : std::string());
    json.text_or_null("ticket", pause ? pause->ticket : std::string());
    json.field("until", pause ? pause->until : std::nullopt);
    json.field("rule", pause ? std::optional(pause->id) : std::nullopt);
}

void write_control_event(JsonWriter& json, const EntityEvent& event) {
    json.begin_object();
    json.field("seq", event.seq);
    json.field("at", event.at);
    json.field("actor", event.actor);
    json.field("action", event.action);
    json.raw_field("detail", event.detail.empty() ? "null" : event.detail);
    json.field("hash", event.hash ? std::optional(to_hex(*event.hash)) : std::nullopt);
    if (event.damaged) json.field("damaged", true);
    json.end_object();
}

}  // namespace sluice::http::native
