#include "interfaces/http/requests/job_filter.hpp"

#include <fmt/format.h>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http {
namespace {

constexpr std::int64_t limit_max = 200;
constexpr std::size_t mark_digits = 16;

Error bad_cursor() {
    return {ErrorCode::malformed,
            "the cursor is not one that this list gave; pass on the one of the page before as it "
            "is, with the same filters",
            ""};
}

Result<std::vector<JobState>> read_states(std::string_view text) {
    std::vector<JobState> states;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view name = text.substr(0, comma);
        // Sites spell it with two l.
        const auto state = parse_job_state(name == "cancelled" ? "canceled" : name);
        if (!state) {
            return Error{
                ErrorCode::malformed,
                fmt::format("\"{}\" is not a state; states are queued, running, succeeded, failed, "
                            "canceled, timed_out",
                            name),
                ""};
        }
        states.push_back(*state);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return states;
}

std::string* text_filter(JobFilter& filter, std::string_view name) {
    if (name == "type") return &filter.type;
    if (name == "queue") return &filter.queue;
    if (name == "project") return &filter.project;
    if (name == "entity_type") return &filter.entity_type;
    if (name == "entity_id") return &filter.entity_id;
    if (name == "site_id") return &filter.site_id;
    if (name == "node_id") return &filter.node_id;
    if (name == "correlation_id") return &filter.correlation_id;
    if (name == "source") return &filter.source;
    if (name == "worker_id") return &filter.worker_id;
    if (name == "label") return &filter.label;
    return nullptr;
}

std::optional<Error> read_filter(const std::string& name, const std::string& value,
                                 JobFilter& filter) {
    if (std::string* text = text_filter(filter, name)) {
        *text = value;
    } else if (name == "state") {
        auto states = read_states(value);
        if (!states) return states.error();
        filter.states = *std::move(states);
    } else if (name == "replay_of") {
        filter.replay_of = parse_job_id(value);
        if (!filter.replay_of) return Error{ErrorCode::malformed, "replay_of must be a job id", ""};
    } else if (name == "created_from" || name == "created_before") {
        auto& time = name == "created_from" ? filter.created_from : filter.created_before;
        time = parse_rfc3339(value);
        if (!time)
            return Error{ErrorCode::malformed, fmt::format("{} must be an RFC 3339 time", name),
                         ""};
    }
    return std::nullopt;
}

bool is_hex(std::string_view text) {
    return !text.empty() && text.size() <= 24 &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<JobId> read_cursor(std::string_view cursor, std::string_view mark) {
    if (cursor.size() != 24 + mark_digits || cursor.substr(24) != mark) return bad_cursor();
    const auto id = parse_job_id(cursor.substr(0, 24));
    if (!id) return bad_cursor();
    return *id;
}

}  // namespace

Result<JobListQuery> read_job_list(const Call& call) {
    const auto params =
        read_query(call.request,
                   {"tenant", "state", "type", "queue", "project", "entity_type", "entity_id",
                    "site_id", "node_id", "correlation_id", "source", "worker_id", "label",
                    "replay_of", "created_from", "created_before", "id_prefix", "limit", "cursor"});
    if (!params) return params.error();
    JobListQuery query;
    auto tenant = tenant_asked_for(call, *params);
    if (!tenant) return tenant.error();
    query.filter.tenant = *std::move(tenant);
    for (const auto& [name, value] : params->all()) {
        if (name == "limit" || name == "cursor") continue;
        if (name == "id_prefix") {
            const auto range = ids_with_prefix(value);
            if (!range && !is_hex(value)) {
                return Error{ErrorCode::malformed, "id_prefix must be 1 to 24 hex digits", ""};
            }
            query.filter.from = range ? range->first : newest;
            query.before = range ? JobId{range->last.value + 1} : JobId{};
        }
        if (auto refusal = read_filter(name, value, query.filter)) return *std::move(refusal);
    }
    return with_page(std::move(query), *params);
}

Result<JobListQuery> with_page(JobListQuery query, const QueryParams& params) {
    for (const auto& [name, value] : params.all()) {
        if (name == "limit" || name == "cursor") continue;
        query.filter_query += fmt::format("&{}=", name);
        query.filter_query += percent_encoded(value, "-_.,");
    }
    // A cursor is of no use to another tenant.
    query.filter_mark =
        to_hex(sha256(sha256(query.filter.tenant), query.filter_query)).substr(0, mark_digits);
    const auto limit = number_param(params, "limit", 1, limit_max, query.limit);
    if (!limit) return limit.error();
    query.limit = static_cast<int>(*limit);
    if (const std::string* cursor = params.find("cursor")) {
        const auto before = read_cursor(*cursor, query.filter_mark);
        if (!before) return before.error();
        query.before = *before;
    }
    return query;
}

std::string cursor_after(const JobListQuery& query, JobId last) {
    return to_text(last) + query.filter_mark;
}

std::string link_to_next(std::string_view path, const JobListQuery& query,
                         std::string_view cursor) {
    return fmt::format("<{}?limit={}{}&cursor={}>; rel=\"next\"", path, query.limit,
                       query.filter_query, cursor);
}

}  // namespace sluice::http
