#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/answers.hpp"
#include "interfaces/http/ascii.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/jobs/handlers.hpp"
#include "interfaces/http/jobs/job_json.hpp"
#include "interfaces/http/jobs/words.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/job_filter.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/native/job_questions.hpp"
#include "interfaces/http/native/pages.hpp"

namespace sluice::http::jobs {
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

Result<native::JobListQuery> read_list(const Call& call) {
    const auto params = native::read_query(
        call.request,
        {"state", "status", "action", "jobType", "tenant", "from", "to", "limit", "cursor"});
    if (!params) return params.error();
    if (auto refusal = refuse_both(*params, "state", "status")) return *std::move(refusal);
    if (auto refusal = refuse_both(*params, "action", "jobType")) return *std::move(refusal);
    native::JobListQuery query;
    auto tenant = tenant_asked_for(call, *params);
    if (!tenant) return tenant.error();
    query.filter.tenant = *std::move(tenant);
    for (const auto& [name, value] : params->all()) {
        if (auto refusal = read_filter(name, value, query.filter)) return *std::move(refusal);
    }
    return native::with_page(std::move(query), *params);
}

Response list_response(const native::JobListQuery& query, const native::JobPage& page,
                       const SecretMarks& secrets) {
    const std::optional<std::string> next = native::cursor_after(query, page);
    Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("jobs");
    json.begin_array();
    for (const Job& job : page.jobs) write_job(json, job, secrets);
    json.end_array();
    json.field("nextCursor", next);
    json.end_object();
    if (next) {
        response.headers.emplace_back("Link", native::link_to_next("/api/jobs", query, *next));
    }
    return response;
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
    const auto query = read_list(call);
    if (!query) return call.reply.send(problem_of(query.error(), call.request.request_id));
    const auto question = [query = *query](JobReader& reader) -> Result<native::JobPage> {
        return native::read_job_page(reader, query);
    };
    call.app.queries.ask<native::JobPage>(
        question, [reply = call.reply, query = *query, &secrets = call.app.rules.secrets,
                   &request_id = call.request.request_id](Result<native::JobPage> page) {
            reply.send(page ? list_response(query, *page, secrets)
                            : problem_of(page.error(), request_id));
        });
}

void get(Call call) {
    const auto params = native::read_query(call.request, {"tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), call.request.request_id));
    const SecretMarks& secrets = call.app.rules.secrets;
    native::ask_about_job(std::move(call), *params,
                          [&secrets](JobReader& reader, const Job& job) -> Result<std::string> {
                              return job_detail_text(job, read_attempts(reader, job), secrets);
                          });
}

void get_logs(Call call) {
    if (wants_events(call.request)) return stream(std::move(call));
    native::ask_for_page(
        std::move(call), [](JobReader& reader, JobId id, std::int64_t after, int limit) {
            return native::page_text("logs", "nextAfter", reader.logs(id, after, limit), after,
                                     native::write_log_line);
        });
}

}  // namespace sluice::http::jobs
