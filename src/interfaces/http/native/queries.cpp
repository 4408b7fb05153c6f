// Everything that is asked about jobs.
#include <fmt/format.h>

#include "interfaces/http/answers.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_filter.hpp"
#include "interfaces/http/native/job_json.hpp"

namespace sluice::http::native {
namespace {

constexpr std::int64_t page_max = 1000;
constexpr std::size_t page_bytes = 4 * 1024 * 1024;  // a page that gets longer ends early

// The job, if the caller may see it.
Result<Job> visible_job(JobReader& reader, JobId id, const std::string& tenant) {
    std::optional<Job> job = reader.find_one(id);
    if (!job || (!tenant.empty() && job->spec.tenant != tenant)) {
        return Error{ErrorCode::not_found, "no job has this id", ""};
    }
    return *std::move(job);
}

// Answers a question about the job in the path, with the text that `question` makes.
void ask_about_job(Call call, const QueryParams& params,
                   std::function<Result<std::string>(JobReader&, const Job&)> question) {
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(problem_of(id.error(), call.request.request_id));
    const auto with_job = [id = *id, tenant = tenant_param(params), question = std::move(question)](
                              JobReader& reader) -> Result<std::string> {
        const auto job = visible_job(reader, id, tenant);
        if (!job) return job.error();
        return question(reader, *job);
    };
    call.app.queries.ask<std::string>(
        with_job,
        [reply = call.reply, &request_id = call.request.request_id](Result<std::string> text) {
            reply.send(text ? json(200, *std::move(text)) : problem_of(text.error(), request_id));
        });
}

// A page of what a job has, as {"<list>":[…]}, and in `next` the number to go on after.
template <class Item, class Write>
std::string page_text(std::string_view list, std::string_view next, const std::vector<Item>& items,
                      std::int64_t after, Write write) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.key(list);
    json.begin_array();
    for (const Item& item : items) {
        if (out.size() > page_bytes) break;
        write(json, item);
        after = item.seq;
    }
    json.end_array();
    json.field(next, after);
    json.end_object();
    return out;
}

struct Page {
    std::int64_t after = 0;
    std::int64_t limit = 0;
};

Result<Page> read_page(const QueryParams& params) {
    const auto after = number_param(params, "after", 0, INT64_MAX, 0);
    if (!after) return after.error();
    const auto limit = number_param(params, "limit", 1, page_max, 200);
    if (!limit) return limit.error();
    return Page{*after, *limit};
}

template <class Read>
void ask_for_page(Call call, Read read) {
    const auto params = read_query(call.request, {"after", "limit", "tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), call.request.request_id));
    const auto page = read_page(*params);
    if (!page) return call.reply.send(problem_of(page.error(), call.request.request_id));
    const auto question = [read, page = *page](JobReader& reader,
                                               const Job& job) -> Result<std::string> {
        return read(reader, job.spec.id, page.after, static_cast<int>(page.limit));
    };
    ask_about_job(std::move(call), *params, question);
}

}  // namespace

void get_job(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), call.request.request_id));
    ask_about_job(std::move(call), *params,
                  [](JobReader&, const Job& job) -> Result<std::string> { return job_text(job); });
}

void get_logs(Call call) {
    ask_for_page(std::move(call), [](JobReader& reader, JobId id, std::int64_t after, int limit) {
        return page_text("logs", "next_after", reader.logs(id, after, limit), after,
                         write_log_line);
    });
}

void get_events(Call call) {
    ask_for_page(std::move(call), [](JobReader& reader, JobId id, std::int64_t after, int limit) {
        return page_text("events", "next_after", reader.events(id, after, limit), after,
                         write_event);
    });
}

void list_jobs(Call call) {
    const auto query = read_job_list(call.request);
    if (!query) return call.reply.send(problem_of(query.error(), call.request.request_id));
    const auto question = [query = *query](JobReader& reader) -> Result<JobPage> {
        return read_job_page(reader, query);
    };
    call.app.queries.ask<JobPage>(question, [reply = call.reply, query = *query,
                                             &request_id =
                                                 call.request.request_id](Result<JobPage> page) {
        reply.send(page ? job_list_response(query, *page) : problem_of(page.error(), request_id));
    });
}

void explain(Call call) {
    const std::string& request_id = call.request.request_id;
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(problem_of(id.error(), request_id));
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), request_id));
    call.app.commands.post_one<ExplainJob>(
        {*id, tenant_param(*params)},
        [reply = call.reply, &request_id](Result<Explanation> explanation) {
            reply.send(explanation ? json(200, explanation_text(*explanation))
                                   : problem_of(explanation.error(), request_id));
        });
}

}  // namespace sluice::http::native
