#include "interfaces/http/api_jobs/handlers.hpp"
#include "interfaces/http/api_jobs/job_json.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/log_lines.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "interfaces/http/toolkit/job_stream.hpp"

namespace sluice::http::api_jobs {
namespace {

// One status in the whole stream: how the job ended.
std::optional<std::string> status_text(const Event& event, const Job& job) {
    return is_final(*event.to) ? std::optional(ending_text(job)) : std::nullopt;
}

Result<JobStreamStart> read_start(const Call& call) {
    const auto id = job_id_in_path(call);
    if (!id) return id.error();
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return params.error();
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return tenant.error();
    const auto after = last_event_id(call.request);
    if (!after) return after.error();
    return JobStreamStart{*id, *std::move(tenant), after->value_or(0)};
}

}  // namespace

void stream(Call call) {
    auto start = read_start(call);
    if (!start) return send_refusal(call, start.error());
    stream_job(std::move(call), *std::move(start), {log_line_text, status_text});
}

}  // namespace sluice::http::api_jobs
