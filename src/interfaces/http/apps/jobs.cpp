// Questions about an app's jobs.
#include <fmt/format.h>

#include "interfaces/http/apps/exchange.hpp"
#include "interfaces/http/apps/handlers.hpp"
#include "interfaces/http/apps/job_json.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/pages.hpp"

namespace sluice::http::apps {
namespace {

struct JobListQuery {
    PageQuery page;
    JobFilter filter;
};

Result<JobListQuery> read_job_list(const Request& request) {
    const auto params = read_query(request, {"page", "limit", "type", "state"});
    if (!params) return params.error();
    const auto page = read_page_query(*params);
    if (!page) return page.error();
    JobListQuery query{*page, {}};
    if (const std::string* type = params->find("type")) {
        if (!is_job_type(*type)) {
            return Error{ErrorCode::malformed, fmt::format("\"{}\" is not a job type", *type), ""};
        }
        query.filter.type = *type;
    }
    if (const std::string* state = params->find("state")) {
        query.filter.states = states_shown_as(*state);
        if (query.filter.states.empty()) {
            return Error{ErrorCode::malformed,
                         fmt::format("\"{}\" is not a state; states are queued, running, "
                                     "succeeded, failed, canceled",
                                     *state),
                         ""};
        }
    }
    return query;
}

Result<Job> find_job(JobReader& reader, const Entity& app, const std::string& id) {
    const auto job_id = parse_job_id(id);
    std::optional<Job> job = job_id ? reader.find_one(*job_id) : std::nullopt;
    if (!job || job->spec->tenant != app.key.tenant || job->spec->project != app.key.id) {
        return Error{ErrorCode::not_found, "this app has no job with this id", ""};
    }
    return *std::move(job);
}

// Pages are numbered, so that none can end early. The jobs that follow the first of a page are read
// by its id, piece by piece: those that are new meanwhile do not shift them.
struct RestOfPage {
    JobFilter filter;
    JobId before{};
    int left = 0;
    std::string end;
    const SecretMarks& secrets;

    Result<StorePiece> operator()(JobReader& reader) const {
        const ListLimit limit(left, piece_bytes);
        ListCount count(limit);
        RestOfPage rest = *this;
        std::string text;
        for (const Job& job : reader.list(filter, before, limit)) {
            text += ',';
            JsonWriter json(text);
            write_job(json, job, secrets);
            count.add(job);
            rest.before = job.spec->id;
            --rest.left;
        }
        if (rest.left == 0 || !count.is_full()) return json_piece(text + end);
        StorePiece piece = json_piece(std::move(text));
        piece.rest = std::move(rest);
        return piece;
    }
};

Result<StorePiece> first_jobs(JobReader& reader, const JobFilter& filter, const PageQuery& query,
                              const SecretMarks& secrets) {
    const std::string end = page_end(query, reader.count(filter));
    const std::vector<Job> first = reader.page(filter, query.offset(), 1);
    std::string text(page_begin);
    if (first.empty()) return json_piece(text + end);
    JsonWriter json(text);
    write_job(json, first.front(), secrets);
    const RestOfPage rest{filter, first.front().spec->id, query.limit - 1, end, secrets};
    Result<StorePiece> piece = rest(reader);
    if (piece) piece->response.body.insert(0, text);
    return piece;
}

PieceQuestion log_page(const Job& job, const PageQuery& query) {
    const auto fetch = [id = job.spec->id](JobReader& reader, std::int64_t after, int count) {
        return reader.logs(id, after, count);
    };
    const auto end = [query, total = job.now.log_seq](JobReader&, std::int64_t) {
        return page_end(query, total);
    };
    NumberedPage<decltype(fetch), decltype(&write_log_line), decltype(end)> page{
        std::string(page_begin), fetch, write_log_line, end, query.offset(), query.limit};
    page.bytes_left = SIZE_MAX;
    return page;
}

}  // namespace

void list_jobs(Call call) {
    auto query = read_job_list(call.request);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    const SecretMarks& secrets = call.app.rules.secrets;
    list_jobs_of_app(std::move(call),
                     [query = *std::move(query), &secrets](
                         JobReader& reader, const Entity& app) -> Result<StorePiece> {
                         JobFilter filter = query.filter;
                         filter.tenant = app.key.tenant;
                         filter.project = app.key.id;
                         return first_jobs(reader, filter, query.page, secrets);
                     });
}

void get_job(Call call) {
    const auto params = read_query(call.request, {});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const std::string id(call.param(1));
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_jobs(std::move(call),
                   [id, &secrets](JobReader& reader, const Entity& app) -> Result<Response> {
                       const Result<Job> job = find_job(reader, app, id);
                       if (!job) return job.error();
                       return data(200, [&](JsonWriter& json) { write_job(json, *job, secrets); });
                   });
}

// Lines are numbered without gaps, in the order in which they were written.
void get_job_logs(Call call) {
    const auto params = read_query(call.request, {"page", "limit"});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const auto query = read_page_query(*params);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    const std::string id(call.param(1));
    list_jobs_of_app(std::move(call), [id, query = *query](JobReader& reader, const Entity& app) {
        const Result<Job> job = find_job(reader, app, id);
        if (!job) return Result<StorePiece>(job.error());
        return log_page(*job, query)(reader);
    });
}

}  // namespace sluice::http::apps
