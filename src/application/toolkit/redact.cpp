#include "application/toolkit/redact.hpp"

#include <algorithm>

namespace sluice {
namespace {

void clean(const Redactor& redactor, Report& report) {
    redactor.clean_json(report.result);
    redactor.clean(report.error_code);
    redactor.clean(report.error_message);
}

void clean(const Redactor& redactor, HandBack& hand_back) {
    redactor.clean(hand_back.reason);
}

void clean(const Redactor& redactor, Heartbeat& heartbeat) {
    if (heartbeat.message) redactor.clean(*heartbeat.message);
}

void clean(const Redactor& redactor, AppendLogs& batch) {
    for (LogEntry& entry : batch.entries) {
        redactor.clean(entry.message);
        redactor.clean_json(entry.data);
    }
}

bool may_have(const Redactor& redactor, const Report& report) {
    return redactor.may_be_in(report.result) || redactor.may_be_in(report.error_code) ||
           redactor.may_be_in(report.error_message);
}

bool may_have(const Redactor& redactor, const HandBack& hand_back) {
    return redactor.may_be_in(hand_back.reason);
}

bool may_have(const Redactor& redactor, const Heartbeat& heartbeat) {
    return heartbeat.message && redactor.may_be_in(*heartbeat.message);
}

bool may_have(const Redactor& redactor, const AppendLogs& batch) {
    return std::any_of(batch.entries.begin(), batch.entries.end(), [&](const LogEntry& entry) {
        return redactor.may_be_in(entry.message) || redactor.may_be_in(entry.data);
    });
}

// A copy of the command without secrets, if it may have any.
template <class Command>
std::optional<Command> cleaned(const Command& command, const Rules& rules, const JobSpec& spec) {
    const auto secrets = rules.secrets.secret_texts(spec);
    const Redactor of_job = secrets.empty() ? Redactor() : Redactor(secrets);
    const bool has_own = !rules.own_secrets.is_idle() && may_have(rules.own_secrets, command);
    if (of_job.is_idle() && !has_own) return std::nullopt;
    std::optional<Command> copy = command;
    if (has_own) clean(rules.own_secrets, *copy);
    clean(of_job, *copy);
    return copy;
}

}  // namespace

std::optional<Report> without_secrets(const Report& report, const Rules& rules,
                                      const JobSpec& spec) {
    return cleaned(report, rules, spec);
}

std::optional<HandBack> without_secrets(const HandBack& hand_back, const Rules& rules,
                                        const JobSpec& spec) {
    return cleaned(hand_back, rules, spec);
}

std::optional<Heartbeat> without_secrets(const Heartbeat& heartbeat, const Rules& rules,
                                         const JobSpec& spec) {
    if (!heartbeat.message) return std::nullopt;
    return cleaned(heartbeat, rules, spec);
}

std::optional<AppendLogs> without_secrets(const AppendLogs& batch, const Rules& rules,
                                          const JobSpec& spec) {
    return cleaned(batch, rules, spec);
}

}  // namespace sluice
