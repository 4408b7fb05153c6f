#pragma once

#include <string>

#include "application/ports/commands.hpp"
#include "json/json_writer.hpp"

// The form in which the native API shows the rules about what may run.
namespace sluice::http::native {

// The members of a rule, without its use.
void write_rule(JsonWriter& json, const LimitRule& rule);

// The members of a rule with its use.
void write_rule_use(JsonWriter& json, const RuleUse& use, Timestamp now);

// What every answer to a change has beside its subject.
void write_effect(JsonWriter& json, const LimitAnswer& answer, bool dry_run);

std::string start_text(const StartNow& start);
std::string differences_text(const MeterDifferences& differences, bool repaired);
void write_source(JsonWriter& json, const SourceNow& source);
void write_control_event(JsonWriter& json, const EntityEvent& event);

}  // namespace sluice::http::native
