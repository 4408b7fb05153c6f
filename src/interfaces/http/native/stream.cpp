#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/log_lines.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "interfaces/http/toolkit/job_stream.hpp"

namespace sluice::http::native {
namespace {

std::optional<std::string> status_text(const Event& event, const Job& job) {
    return json_object_text([&](JsonWriter& json) {
        json.field("state", to_text(*event.to));
        json.field("type", to_text(event.step));
        json.field("attempt", event.attempt);
        json.field("at", event.at);
        if (is_final(*event.to)) {
            json.raw_field("result", job.now.result.empty() ? "null" : job.now.result);
            json.text_or_null("error_code", job.now.error_code);
            json.text_or_null("error_message", job.now.error_message);
        } else {
            json.raw_field("detail", event.detail.empty() ? "null" : event.detail);
        }
    });
}

Result<JobStreamStart> read_start(const Call& call) {
    const auto id = job_id_in_path(call);
    if (!id) return id.error();
    const auto params = read_query(call.request, {"after", "tenant"});
    if (!params) return params.error();
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return tenant.error();
    // Last-Event-ID, which browsers send by themselves, wins over ?after=.
    const auto last = last_event_id(call.request);
    if (!last) return last.error();
    if (*last) return JobStreamStart{*id, *std::move(tenant), **last};
    const auto after = number_param(*params, "after", 0, INT64_MAX, 0);
    if (!after) return after.error();
    return JobStreamStart{*id, *std::move(tenant), *after};
}

}  // namespace

void stream_job(Call call) {
    auto start = read_start(call);
    if (!start) return send_refusal(call, start.error());
    http::stream_job(std::move(call), *std::move(start), {log_line_text, status_text});
}

}  // namespace sluice::http::native
