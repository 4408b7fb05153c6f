#include "interfaces/http/answers.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/job_stream.hpp"
#include "interfaces/http/jobs/handlers.hpp"
#include "interfaces/http/jobs/job_json.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/job_json.hpp"

namespace sluice::http::jobs {
namespace {

// One status in the whole stream: how the job ended.
std::optional<std::string> status_text(const Event& event, const Job& job) {
    return is_final(*event.to) ? std::optional(ending_text(job)) : std::nullopt;
}

Result<JobStreamStart> read_start(const Call& call) {
    const auto id = native::job_id_in_path(call);
    if (!id) return id.error();
    const auto params = native::read_query(call.request, {"tenant"});
    if (!params) return params.error();
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return tenant.error();
    const auto after = native::last_event_id(call.request);
    if (!after) return after.error();
    return JobStreamStart{*id, *std::move(tenant), after->value_or(0)};
}

}  // namespace

void stream(Call call) {
    auto start = read_start(call);
    if (!start) return call.reply.send(problem_of(start.error(), call.request.request_id));
    stream_job(std::move(call), *std::move(start), {native::log_line_text, status_text});
}

}  // namespace sluice::http::jobs
