// The workers that take jobs: those that asked for jobs lately, and those that hold leases.
#include <map>

#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "interfaces/http/toolkit/store_answer.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::native {
namespace {

constexpr int page = 200;
constexpr std::size_t jobs_max = 10'000;  // of all workers; more are not shown

using Name = std::pair<std::string, std::string>;  // tenant, worker
using HeldJobs = std::map<Name, std::vector<JobId>>;

HeldJobs held_jobs(JobReader& reader, const std::string& tenant) {
    JobFilter running{.tenant = tenant, .states = {JobState::running}};
    HeldJobs held;
    JobId before = newest;
    for (std::size_t count = 0; count < jobs_max;) {
        const auto jobs = reader.list(running, before, {page, page_bytes});
        if (jobs.empty()) break;
        for (const Job& job : jobs) {
            held[{job.spec->tenant, job.lease->worker_id}].push_back(job.spec->id);
        }
        count += jobs.size();
        before = jobs.back().spec->id;
    }
    return held;
}

void write_worker(JsonWriter& json, const Name& name, const WorkerSeen* seen,
                  const std::vector<JobId>& jobs) {
    const ClaimFilter nothing_known;
    const ClaimFilter& filter = seen ? seen->filter : nothing_known;
    json.begin_object();
    json.field("worker_id", name.second);
    json.text_or_null("tenant", name.first);
    json.list("queues", filter.queues);
    json.list("types", filter.types);
    json.list("labels", filter.labels);
    json.field("waiting", seen && seen->waiting);
    json.field("last_claim", seen ? std::optional(seen->at) : std::nullopt);
    json.list("jobs", jobs);
    json.end_object();
}

// A worker of all tenants holds what it took from each.
void gather_jobs(HeldJobs& held, const Name& worker) {
    std::vector<JobId> jobs;
    for (auto& [name, some] : held) {
        if (name.second == worker.second) jobs.insert(jobs.end(), some.begin(), some.end());
    }
    std::erase_if(held, [&](const auto& item) { return item.first.second == worker.second; });
    held[worker] = std::move(jobs);
}

std::string workers_text(const WorkersSeen& seen, HeldJobs held) {
    std::map<Name, const WorkerSeen*> all;
    for (const WorkerSeen& worker : seen) {
        const Name name{worker.filter.tenant, worker.worker_id};
        all[name] = &worker;
        if (worker.filter.any_tenant) gather_jobs(held, name);
    }
    for (const auto& [name, jobs] : held) all.try_emplace(name, nullptr);
    return json_object_text([&](JsonWriter& json) {
        json.key("workers");
        json.begin_array();
        for (const auto& [name, worker] : all) write_worker(json, name, worker, held[name]);
        json.end_array();
    });
}

}  // namespace

void list_workers(Call call) {
    const std::string& request_id = call.request.request_id;
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    const auto asked = tenant_to_look_in(call, *params);
    if (!asked) return send_refusal(call, asked.error());
    const std::string& tenant = *asked;

    const auto with_jobs = [reply = call.reply, &request_id, &queries = call.app.queries,
                            tenant](Result<WorkersSeen> seen) {
        if (!seen) return reply.send(problem_of(seen.error(), request_id));
        const auto question = [seen = *seen, tenant](JobReader& reader) -> Result<std::string> {
            return workers_text(seen, held_jobs(reader, tenant));
        };
        queries.ask<std::string>(question, [reply, &request_id](Result<std::string> text) {
            reply.send(text ? json(200, *std::move(text)) : problem_of(text.error(), request_id));
        });
    };
    call.app.commands.post_one<AskWorkers>({tenant}, with_jobs);
}

}  // namespace sluice::http::native
