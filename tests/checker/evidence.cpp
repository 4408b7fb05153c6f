#include "checker/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <stdexcept>

namespace sluice::checker {
namespace {

Outcome parse_outcome(const std::string& text) {
    if (text == "ok") return Outcome::ok;
    if (text == "fail") return Outcome::fail;
    if (text == "info") return Outcome::info;
    throw std::runtime_error("no outcome: " + text);
}

constexpr const char* usual_tenant = "default";

std::string tenant_in(const Json& fields) {
    const std::string tenant = text(fields, "tenant");
    return tenant.empty() ? usual_tenant : tenant;
}

std::string key_within(const std::string& tenant, const std::string& key) {
    return key.empty() ? key : tenant + " " + key;
}

Operation read_operation(const Json& line) {
    Operation operation;
    operation.args = member_of(line, "args");
    operation.tenant = tenant_in(operation.args);
    operation.op = text(line, "op");
    operation.actor = text(line, "actor");
    operation.job = text(operation.args, "job");
    operation.lease = text(operation.args, "lease");
    operation.key = key_within(operation.tenant, text(operation.args, "key"));
    operation.ref = text(operation.args, "ref");
    operation.t0 = Time(Span(number(line, "t0")));
    operation.t1 = Time(Span(number(line, "t1")));
    operation.outcome = parse_outcome(text(line, "outcome"));
    operation.status = static_cast<int>(number(line, "status"));
    operation.result = member_of(line, "result");
    if (operation.outcome == Outcome::fail) operation.code = text(operation.result, "code");
    return operation;
}

// A batch is as many submits: with its key, each with its index, and with the answer to its own
// job.
void add_submits(std::vector<Operation>& operations, const Operation& batch) {
    const auto& bodies = list(batch.args, "bodies");
    const auto& answers = list(batch.result, "jobs");
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        Operation submit = batch;
        submit.op = "submit";
        submit.is_part = true;
        submit.ref = text(bodies[i], "correlation_id");
        if (!batch.key.empty()) submit.key = fmt::format("{} #{}", batch.key, i);
        submit.args = boost::json::object{{"ref", submit.ref}, {"body", bodies[i]}};
        if (batch.outcome == Outcome::ok) submit.result = answers.at(i);
        operations.push_back(std::move(submit));
    }
}

Event read_event(const Json& fields) {
    Event event;
    event.seq = number(fields, "seq");
    event.type = text(fields, "type");
    event.from = text(fields, "from");
    event.to = text(fields, "to");
    event.attempt = number(fields, "attempt");
    event.lease = text(fields, "lease_id");
    event.actor = text(fields, "actor");
    event.at = parse_time(text(fields, "at"));
    event.detail = member_of(fields, "detail");
    event.hash = text(fields, "hash");
    return event;
}

// The name of the entity that a job names.
std::string followed_name(const Json& job) {
    return fmt::format("{} {} {}", tenant_in(job), text(job, "entity_type"),
                       text(job, "entity_id"));
}

void mark_followed(Evidence& evidence) {
    std::set<std::string> names;
    for (const Entity& entity : evidence.entities) names.insert(entity.name);
    for (auto& [id, job] : evidence.jobs) {
        job.has_follower = names.contains(followed_name(job.fields));
    }
}

Entity read_entity(const Json& line) {
    Entity entity;
    entity.fields = member_of(line, "entity");
    entity.name = fmt::format("{} {} {}", tenant_in(entity.fields), text(entity.fields, "kind"),
                              text(entity.fields, "id"));
    for (const Json& event : list(line, "events")) {
        entity.events.push_back({number(event, "seq"), text(event, "action"), text(event, "from"),
                                 text(event, "to"), text(event, "job_id")});
    }
    return entity;
}

// The tenants of a profile are a limit without bounds here. Changes of other things are left out.
void read_limit_change(Evidence& evidence, const Json& change) {
    const Json& detail = member_of(change, "detail");
    const std::string profile = text(detail, "profile");
    const std::string limit = profile.empty() ? text(detail, "rule") : "profile " + profile;
    if (limit.empty()) return;
    evidence.limit_changes.push_back({number(change, "seq"), limit, text(detail, "reason"),
                                      member_of(detail, "after"), parse_time(text(change, "at"))});
}

void read_history_line(Evidence& evidence, const Json& line) {
    const std::string kind = text(line, "kind");
    if (kind == "job") {
        const Json& fields = member_of(line, "job");
        Job& job = evidence.jobs[text(fields, "id")];
        if (!job.fields.is_null()) throw std::runtime_error("listed twice: " + text(fields, "id"));
        job.id = text(fields, "id");
        job.state = text(fields, "state");
        job.fields = fields;
    } else if (kind == "event") {
        evidence.jobs[text(line, "job_id")].events.push_back(read_event(member_of(line, "event")));
    } else if (kind == "log") {
        const Json& fields = member_of(line, "log");
        evidence.jobs[text(line, "job_id")].lines.push_back(
            {number(fields, "seq"), number(fields, "attempt"), text(fields, "message")});
    } else if (kind == "entity") {
        evidence.entities.push_back(read_entity(line));
    } else if (kind == "limit_change") {
        read_limit_change(evidence, member_of(line, "change"));
    } else if (kind == "limit") {
        evidence.limits.push_back(member_of(line, "limit"));
    } else if (kind == "row") {
        evidence.ledger.push_back(member_of(line, "row"));
    } else if (kind == "entity_row") {
        evidence.entity_ledger.push_back(member_of(line, "row"));
    } else {
        throw std::runtime_error("no kind of line: " + kind);
    }
}

void each_line(std::istream& stream, const char* name,
               const std::function<void(const Json&)>& read) {
    int count = 0;
    for (std::string line; std::getline(stream, line);) {
        ++count;
        if (line.empty()) continue;
        try {
            read(boost::json::parse(line));
        } catch (const std::exception& error) {
            throw std::runtime_error(fmt::format("{} line {}: {}", name, count, error.what()));
        }
    }
}

// Notes what an answer tells of a job that is gone.
void note_told(GoneJob& gone, const Json& job) {
    if (!is_final(text(job, "state"))) return;
    gone.state = text(job, "state");
    const std::string end = text(job, "completed_at");
    if (!end.empty()) gone.end = parse_time(end);
}

// The jobs that an answer names and the history does not have, and what other answers told of them.
void gather_gone(Evidence& evidence) {
    const auto note = [&](const std::string& id) -> GoneJob* {
        const bool is_known = id.empty() || evidence.find(id) != nullptr;
        return is_known ? nullptr : &evidence.gone[id];
    };
    for (const Operation& operation : evidence.operations) {
        const bool makes = operation.is_ok("submit") || operation.is_ok("replay");
        GoneJob* made = makes ? note(text(operation.result, "id")) : nullptr;
        if (made != nullptr) {
            made->tenant = operation.tenant;
            made->mark = operation.ref;
            if (!operation.key.empty()) {
                made->keyed = std::min(made->keyed.value_or(operation.t0), operation.t0);
            }
        }
        if (!operation.is_ok("claim")) continue;
        for (const Json& lease : list(operation.result, "leases")) {
            GoneJob* given = note(job_in(text(lease, "lease_id")));
            if (given != nullptr) given->tenant = operation.tenant;
        }
    }
    for (const Operation& operation : evidence.operations) {
        const std::string told = text(operation.result, "id");
        const auto by_answer = evidence.gone.find(told.empty() ? operation.job : told);
        if (by_answer != evidence.gone.end() && operation.outcome == Outcome::ok) {
            note_told(by_answer->second, operation.result);
        }
        const auto by_lease = evidence.gone.find(job_in(operation.lease));
        if (by_lease == evidence.gone.end() || operation.op != "report") continue;
        if (text(member_of(operation.args, "body"), "outcome") != "succeeded") continue;
        auto& sent = by_lease->second.success_sent;
        sent = std::min(sent.value_or(operation.t0), operation.t0);
    }
}

void part_trespasses(Evidence& evidence) {
    const auto is_at_home = [&](const Operation& operation) {
        const Job* job = evidence.find(operation.job);
        const auto gone = evidence.gone.find(operation.job);
        if (text(operation.args, "tenant").empty()) return true;
        if (gone != evidence.gone.end()) return gone->second.tenant == operation.tenant;
        return job == nullptr || job->tenant() == operation.tenant;
    };
    auto& operations = evidence.operations;
    const auto first = std::stable_partition(operations.begin(), operations.end(), is_at_home);
    evidence.trespasses.assign(std::make_move_iterator(first),
                               std::make_move_iterator(operations.end()));
    operations.erase(first, operations.end());
}

void index_history(Evidence& evidence) {
    for (const auto& [id, job] : evidence.jobs) {
        for (const Event& event : job.events) {
            if (event.lease.empty()) continue;
            Lease& lease = evidence.leases[event.lease];
            lease.id = event.lease;
            lease.job = &job;
            if (event.type == "claimed" && lease.claimed == nullptr) lease.claimed = &event;
            if (event.closes_a_lease() && lease.closed == nullptr) lease.closed = &event;
        }
    }
}

void index_record(Evidence& evidence) {
    for (const Operation& operation : evidence.operations) {
        if (operation.is_ok("claim")) {
            for (const Json& given : list(operation.result, "leases")) {
                Lease& lease = evidence.leases[text(given, "lease_id")];
                lease.id = text(given, "lease_id");
                if (lease.given != nullptr) continue;  // the rule on leases sees it by the claims
                lease.given = &operation;
                lease.until = parse_time(text(given, "lease_until"));
            }
        } else if (!operation.lease.empty()) {
            Lease& lease = evidence.leases[operation.lease];
            lease.id = operation.lease;
            lease.spoken.push_back(&operation);
        }
    }
}

}  // namespace

bool is_final(std::string_view state) {
    return state == "succeeded" || state == "failed" || state == "canceled" || state == "timed_out";
}

bool Event::is_end() const {
    return is_final(to);
}

bool Event::is_by_worker() const {
    return actor.starts_with("worker:");
}

bool Event::closes_a_lease() const {
    if (lease.empty() || type == "claimed") return false;
    // The worker of a job that was canceled or timed out meanwhile keeps the lease until it stops.
    const bool is_kept = (type == "canceled" || type == "timed_out") && !is_by_worker();
    return !is_kept;
}

bool Event::is_release() const {
    return closes_a_lease() && text(detail, "error_code") == "LEASE_RELEASED";
}

std::string Job::tenant() const {
    return tenant_in(fields);
}

const Event* Job::end() const {
    const auto found =
        std::find_if(events.begin(), events.end(), [](const Event& e) { return e.is_end(); });
    return found == events.end() ? nullptr : &*found;
}

std::vector<std::string> Job::keys() const {
    std::vector<std::string> held;
    for (const Json& key : list(fields, "exclusive_keys")) {
        held.push_back(tenant() + " key " + std::string(key.as_string()));
    }
    for (const char* place : {"site_id", "node_id"}) {
        const std::string name = text(fields, place);
        if (!name.empty()) held.push_back(fmt::format("{} {} {}", tenant(), place, name));
    }
    if (has_follower) held.push_back(followed_name(fields));
    return held;
}

const Job* Evidence::find(const std::string& id) const {
    const auto found = jobs.find(id);
    return found == jobs.end() ? nullptr : &found->second;
}

const Job* Evidence::job_of(const Lease& lease) const {
    return lease.job != nullptr ? lease.job : find(job_in(lease.id));
}

std::string job_in(const std::string& lease) {
    return lease.substr(0, lease.find('-'));
}

Time parse_time(std::string_view text) {
    const std::string copy(text);
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    int milli = 0;
    // NOLINTNEXTLINE(cert-err34-c): seven fields of fixed width, and their count is checked.
    if (std::sscanf(copy.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3dZ", &year, &month, &day, &hour,
                    &minute, &second, &milli) != 7) {
        throw std::runtime_error("no time: " + copy);
    }
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
           std::chrono::seconds(second) + std::chrono::milliseconds(milli);
}

Evidence read_evidence(std::istream& record, std::istream& history) {
    Evidence evidence;
    each_line(record, "record", [&](const Json& line) {
        Operation operation = read_operation(line);
        if (operation.op == "batch") add_submits(evidence.operations, operation);
        evidence.operations.push_back(std::move(operation));
    });
    each_line(history, "history", [&](const Json& line) { read_history_line(evidence, line); });
    std::stable_sort(evidence.operations.begin(), evidence.operations.end(),
                     [](const Operation& a, const Operation& b) { return a.t0 < b.t0; });
    std::sort(evidence.limit_changes.begin(), evidence.limit_changes.end(),
              [](const LimitChange& a, const LimitChange& b) { return a.seq < b.seq; });
    for (const auto& [id, job] : evidence.jobs) {
        if (job.fields.is_null()) throw std::runtime_error("history without its job: " + id);
    }
    gather_gone(evidence);
    part_trespasses(evidence);
    mark_followed(evidence);
    index_history(evidence);
    index_record(evidence);
    return evidence;
}

}  // namespace sluice::checker
