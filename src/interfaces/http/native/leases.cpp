// Requests of workers: claim, heartbeat, log lines, report, release.
#include <fmt/format.h>

#include "application/toolkit/make_job.hpp"
#include "interfaces/http/message/problem.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/read_lease.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

// Why a claim gets no jobs, where they are held back by intent; empty: there are none.
std::string_view reason_for_none(const std::string& tenant, const App& app) {
    const bool is_maintenance = app.rules_now.get()->maintenance(tenant, app.clock.now());
    return is_maintenance ? "maintenance" : "";
}

std::string claimed_text(const Claimed& jobs, const LeaseSeal& seal, std::string_view reason) {
    std::string out;
    std::size_t size = 64;
    for (const Job& job : jobs) size += 1200 + job.spec->payload.size();
    out.reserve(size);
    JsonWriter json(out);
    json.begin_object();
    json.objects("leases", jobs, [&](const Job& job) {
        json.field("lease_id", seal.text({job.spec->id, job.lease->token}));
        json.field("lease_until", job.lease->until);
        json.field("attempt", job.now.attempt);
        json.key("job");
        write_job(json, job, SecretMarks::none());  // its worker needs all of it
    });
    if (!reason.empty()) json.field("reason", reason);
    json.end_object();
    return out;
}

// Gives jobs back that were claimed for a client that did not wait for them.
void give_back(App& app, const Claimed& jobs) {
    std::vector<HandBack> hand_backs;
    for (const Job& job : jobs) {
        hand_backs.push_back({.lease = {job.spec->id, job.lease->token},
                              .reason = "the worker was gone before it got the job"});
    }
    if (!hand_backs.empty()) app.commands.post<HandBack>(std::move(hand_backs), [](auto) {});
}

void write_refusal(JsonWriter& json, const Error& error) {
    json.object("error", [&] {
        json.field("code", code_of(error.code));
        json.field("detail", error.message);
    });
}

void write_extended(JsonWriter& json, const Extended& extended) {
    json.field("lease_until", extended.until);
    json.field("cancel_requested", extended.stop_requested);
}

// Answers many: {"results":[{"lease_id":…, what `write` adds, or an error}]}.
template <class Answer, class Write>
std::string results_text(const std::vector<LeaseId>& leases, const LeaseSeal& seal,
                         const std::vector<Result<Answer>>& answers, Write write) {
    std::string out;
    out.reserve(64 + answers.size() * 160);
    JsonWriter json(out);
    json.begin_object();
    json.key("results");
    json.begin_array();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        json.begin_object();
        json.field("lease_id", seal.text(leases[i]));
        if (answers[i]) {
            write(json, *answers[i]);
        } else {
            write_refusal(json, answers[i].error());
        }
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return out;
}

// Reads a command for one lease from the path and the body, and answers it with what `render` makes
// of it.
template <class Command, class Read, class Render>
void act_on_lease(Call call, Read read, Render render) {
    const std::string& request_id = call.request.request_id;
    const auto lease = lease_id_in_path(call);
    if (!lease) return send_refusal(call, lease.error());
    JsonReader reader = body_reader(call.request);
    Command command = read(reader);
    if (command.lease != LeaseId{} && command.lease != *lease) {
        reader.fail_at("lease_id", "is another one than in the path");
    }
    if (const auto done = reader.finish(); !done) {
        return send_refusal(call, done.error());
    }
    command.lease = *lease;
    command.bounds = bounds_of(*call.caller);
    call.app.commands.post_one<Command>(std::move(command), [reply = call.reply, &request_id,
                                                             render](auto answer) {
        reply.send(answer ? json(200, render(*answer)) : problem_of(answer.error(), request_id));
    });
}

// The same for many leases: a list of objects that name theirs.
template <class Command, class Read, class Write>
void act_on_leases(Call call, std::string_view list, Read read, Write write) {
    JsonReader reader = given_body_reader(call.request);
    std::vector<Command> commands = read_many<Command>(reader, list, read);
    if (const auto done = reader.finish(); !done) {
        return send_refusal(call, done.error());
    }
    std::vector<LeaseId> leases;
    for (Command& command : commands) {
        command.bounds = bounds_of(*call.caller);
        leases.push_back(command.lease);
    }
    call.app.commands.post<Command>(
        std::move(commands), [reply = call.reply, leases = std::move(leases), &seal = call.app.seal,
                              write](const AnswersTo<Command>& answers) {
            reply.send(json(200, results_text(leases, seal, answers, write)));
        });
}

void write_reported(JsonWriter& json, const Job& job) {
    json.field("job_id", job.spec->id);
    json.field("state", to_text(job.now.state));
    json.field("attempt", job.now.attempt);
    json.field("run_after", job.now.run_after);
}

auto job_renderer(const App& app) {
    return [&app](const Job& job) { return job_text(job, app.rules.secrets, planned_start(job)); };
}

LeaseTerms lease_terms(const App& app) {
    return {app.default_lease, app.max_lease};
}

auto report_reader(const App& app) {
    return [&app](JsonReader& reader) { return read_report(reader, app.seal); };
}

// Reads a heartbeat within the lease terms of this engine.
auto heartbeat_reader(const App& app) {
    return
        [&app](JsonReader& reader) { return read_heartbeat(reader, lease_terms(app), app.seal); };
}

}  // namespace

void claim(Call call) {
    JsonReader reader = body_reader(call.request);
    ClaimRequest request = read_claim(reader, lease_terms(call.app), *call.caller);
    if (const auto done = reader.finish(); !done) {
        return send_refusal(call, done.error());
    }
    ClaimJobs command = std::move(request.claim);
    if (const auto refusal = bind_claim(command, *call.caller)) {
        return send_refusal(call, *refusal);
    }
    command.ticket = ++call.app.tickets;
    if (request.wait > Duration{0}) {
        command.wait_until = call.app.clock.now() + request.wait;
        call.reply.on_hang_up(
            [&app = call.app, ticket = command.ticket] { app.commands.forget(ticket); });
    }
    const auto share = share_for_claim(call, command);
    if (!share) {
        Response refusal =
            problem(429, "too_many_requests", too_many_wait, call.request.request_id);
        refusal.headers.emplace_back("Retry-After", "1");
        return call.reply.send(std::move(refusal));
    }
    const std::string tenant = command.filter.any_tenant ? "" : command.filter.tenant;
    call.app.commands.post_one<ClaimJobs>(
        std::move(command), [call, share, tenant](const Result<Claimed>& jobs) {
            if (!jobs) return send_refusal(call, jobs.error());
            if (!call.reply.is_open()) return give_back(call.app, *jobs);
            if (!call.app.access.is_still_good(*call.caller)) {
                give_back(call.app, *jobs);
                return call.reply.send(unauthorized(call.request));
            }
            const std::string_view reason =
                jobs->empty() ? reason_for_none(tenant, call.app) : std::string_view();
            call.reply.send(json(200, claimed_text(*jobs, call.app.seal, reason)));
        });
}

void heartbeat(Call call) {
    const auto read = heartbeat_reader(call.app);
    act_on_lease<Heartbeat>(std::move(call), read, [](const Extended& extended) {
        return json_object_text([&](JsonWriter& json) { write_extended(json, extended); });
    });
}

void heartbeat_many(Call call) {
    const auto read = heartbeat_reader(call.app);
    act_on_leases<Heartbeat>(std::move(call), "heartbeats", read, write_extended);
}

void append_log_lines(Call call) {
    const auto key = idempotency_key(call.request);
    if (!key) return send_refusal(call, key.error());
    const auto read = [key = *key](JsonReader& reader) {
        AppendLogs batch = read_log_batch(reader);
        if (!key.empty()) batch.batch_mark = mark_of(key);
        return batch;
    };
    act_on_lease<AppendLogs>(std::move(call), read, [](const Appended& appended) {
        return fmt::format(R"({{"last_seq":{},"stored":{}}})", appended.last_seq, appended.stored);
    });
}

void report(Call call) {
    const auto render = job_renderer(call.app);
    const auto read = report_reader(call.app);
    act_on_lease<Report>(std::move(call), read, render);
}

void report_many(Call call) {
    const auto read = report_reader(call.app);
    act_on_leases<Report>(std::move(call), "reports", read, write_reported);
}

void release(Call call) {
    const auto render = job_renderer(call.app);
    act_on_lease<HandBack>(std::move(call), read_release, render);
}

}  // namespace sluice::http::native
