#include <fmt/format.h>

#include <algorithm>

#include "domain/values/ascii.hpp"
#include "interfaces/http/api_jobs/handlers.hpp"
#include "interfaces/http/api_jobs/job_json.hpp"
#include "interfaces/http/api_jobs/words.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/job_list.hpp"
#include "interfaces/http/requests/job_questions.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::api_jobs {
namespace {

// Two names for one filter would narrow the list twice, or not at all.
std::optional<Error> refuse_both(const QueryParams& params, std::string_view one,
                                 std::string_view other) {
    if (!params.find(one) || !params.find(other)) return std::nullopt;
    return Error{ErrorCode::malformed,
                 fmt::format("{} and {} cannot be given together", one, other), ""};
}

std::optional<Error> read_time(const std::string& name, const std::string& value,
                               std::optional<Timestamp>& time) {
    time = parse_rfc3339(value);
    if (time) return std::nullopt;
    return Error{ErrorCode::malformed, fmt::format("{} must be an RFC 3339 time", name), ""};
}

std::optional<Error> read_filter(const std::string& name, const std::string& value,
                                 JobFilter& filter) {
    if (name == "state" || name == "status") {
        auto states = read_states(value, name == "state" ? Vocabulary::state : Vocabulary::status);
        if (!states) return states.error();
        filter.states = *std::move(states);
    } else if (name == "action" || name == "jobType") {
        filter.type = value;
    } else if (name == "from") {
        return read_time(name, value, filter.created_from);
    } else if (name == "to") {
        return read_time(name, value, filter.created_before);
    }
    return std::nullopt;
}

Result<JobListQuery> read_list(const Call& call) {
    const auto params = read_query(call.request, {"state", "status", "action", "jobType", "tenant",
                                                  "from", "to", "limit", "cursor"});
    if (!params) return params.error();
    if (auto refusal = refuse_both(*params, "state", "status")) return *std::move(refusal);
    if (auto refusal = refuse_both(*params, "action", "jobType")) return *std::move(refusal);
    JobListQuery query;
    auto tenant = tenant_asked_for(call, *params);
    if (!tenant) return tenant.error();
    query.filter.tenant = *std::move(tenant);
    for (const auto& [name, value] : params->all()) {
        if (auto refusal = read_filter(name, value, query.filter)) return *std::move(refusal);
    }
    return with_page(std::move(query), *params);
}

bool wants_events(const Request& request) {
    const std::string_view* header = request.header("Accept");
    if (!header) return false;
    std::string_view types = *header;
    while (!types.empty()) {
        const std::string_view part = types.substr(0, types.find(','));
        types.remove_prefix(std::min(types.size(), part.size() + 1));
        std::string_view type = part.substr(0, part.find(';'));
        while (type.starts_with(' ')) type.remove_prefix(1);
        while (type.ends_with(' ')) type.remove_suffix(1);
        if (equals_ignoring_case(type, "text/event-stream")) return true;
    }
    return false;
}

}  // namespace

void list(Call call) {
    auto query = read_list(call);
    if (!query) return send_refusal(call, query.error());
    const auto text = [&secrets = call.app.rules.secrets](const Job& job) {
        return json_text([&](JsonWriter& json) { write_job(json, job, secrets); });
    };
    answer_from_store(
        call, job_list(*std::move(query), job_list_format("/api/jobs", "nextCursor", text)));
}

void get(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_job(std::move(call), *params,
                  [&secrets](JobReader& reader, const Job& job) -> Result<std::string> {
                      return job_detail_text(job, read_attempts(reader, job), secrets);
                  });
}

void get_logs(Call call) {
    if (wants_events(call.request)) return stream(std::move(call));
    ask_for_page(std::move(call),
                 [](JobId id, Page page) { return log_page("nextAfter", id, page); });
}

}  // namespace sluice::http::api_jobs
