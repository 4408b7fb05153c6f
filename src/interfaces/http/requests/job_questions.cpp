#include "interfaces/http/requests/job_questions.hpp"

#include "application/toolkit/names.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/log_lines.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http {
namespace {

// The job, if the caller may see it.
Result<Job> visible_job(JobReader& reader, JobId id, const std::string& tenant) {
    std::optional<Job> job = reader.find_one(id);
    if (!job || (!tenant.empty() && job->spec->tenant != tenant)) {
        return no_such_job(id);
    }
    return *std::move(job);
}

}  // namespace

void ask_about_job(Call call, const QueryParams& params,
                   std::function<Result<std::string>(JobReader&, const Job&)> question) {
    ask_for_pieces(
        std::move(call), params,
        [question = std::move(question)](JobReader& reader, const Job& job) -> Result<StorePiece> {
            auto text = question(reader, job);
            if (!text) return text.error();
            return json_piece(*std::move(text));
        });
}

void ask_for_pieces(Call call, const QueryParams& params,
                    std::function<Result<StorePiece>(JobReader&, const Job&)> question) {
    const auto id = job_id_in_path(call);
    if (!id) return send_refusal(call, id.error());
    auto tenant = tenant_to_look_in(call, params);
    if (!tenant) return send_refusal(call, tenant.error());
    answer_from_store(call, [id = *id, tenant = *std::move(tenant),
                             question = std::move(question)](JobReader& reader) {
        const auto job = visible_job(reader, id, tenant);
        return job ? question(reader, *job) : Result<StorePiece>(job.error());
    });
}

void ask_for_page(Call call, ReadPage read) {
    const auto params = read_query(call.request, {"after", "limit", "tenant"});
    if (!params) return send_refusal(call, params.error());
    const auto page = read_page(*params);
    if (!page) return send_refusal(call, page.error());
    ask_for_pieces(std::move(call), *params,
                   [read, page = *page](JobReader& reader, const Job& job) {
                       return read(job.spec->id, page)(reader);
                   });
}

PieceQuestion log_page(std::string_view next, JobId id, Page page) {
    const auto fetch = [id](JobReader& reader, std::int64_t after, int count) {
        return reader.logs(id, after, count);
    };
    return numbered_page("logs", next, page, fetch, write_log_line);
}

}  // namespace sluice::http
