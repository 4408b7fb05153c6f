#include "interfaces/http/requests/job_list.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace sluice::http {
namespace {

constexpr std::size_t read_bytes = 1024 * 1024;  // of jobs that are in memory at once
constexpr std::size_t quick_bytes = 256 * 1024;  // a page with more of them takes long to plan
constexpr std::size_t end_bytes = 256;           // for the text after the last job

struct ListRequest {
    JobListQuery query;
    JobListFormat format;
};
using ListRequestPtr =
    std::shared_ptr<const ListRequest>;  // shared by the questions for all pieces

struct Planned {
    JobId id{};
    std::size_t bytes = 0;  // of its text, as it was when the page was planned
};

// The part of a page after its first piece.
struct Rest {
    std::vector<Planned> jobs;
    std::string end;
};

// A page while it is planned: the first piece gets its text, of all other jobs only the size is
// taken.
class Planner {
  public:
    explicit Planner(const ListRequest& request)
        : request_(request), text_(request.format.begin), before_(request.query.before) {}

    // Reads on, and stops at so many bytes of jobs. True: the page is planned.
    bool read(JobReader& reader, std::size_t bytes_max) {
        // One job more than asked for is read, to know whether there is one.
        const ListLimit limit(request_.query.limit + 1 - count_, bytes_max);
        const std::vector<Job> jobs = reader.list(request_.query.filter, before_, limit);
        const std::vector<std::string> texts = request_.format.texts(reader, jobs);
        ListCount counted(limit);
        for (std::size_t i = 0; i < jobs.size() && !more_; ++i) {
            add(jobs[i].spec->id, texts[i]);
            before_ = jobs[i].spec->id;
            counted.add(jobs[i]);
        }
        return more_ || !counted.is_full();
    }

    StorePiece piece(const ListRequestPtr& request) &&;

  private:
    void add(JobId id, const std::string& text) {
        const std::size_t bytes = text.size() + 1;  // with the comma
        const bool fits = count_ == 0 || bytes_ + bytes <= page_bytes - end_bytes;
        more_ = count_ == request_.query.limit || !fits;
        if (more_) return;
        if (count_ == 0 || (rest_.empty() && text_.size() + bytes <= piece_bytes)) {
            if (count_ > 0) text_ += ',';
            text_ += text;
        } else {
            rest_.push_back({id, bytes});
        }
        ++count_;
        bytes_ += bytes;
        last_ = id;
    }

    const ListRequest& request_;
    std::string text_;
    JobId before_;
    std::vector<Planned> rest_;
    JobId last_{};
    int count_ = 0;
    std::size_t bytes_ = 0;
    bool more_ = false;
};

Result<StorePiece> read_rest(JobReader& reader, const ListRequestPtr& request,
                             const std::shared_ptr<const Rest>& rest, std::size_t from) {
    std::vector<JobId> ids;
    std::size_t next = from;
    for (std::size_t bytes = 0; next < rest->jobs.size(); ++next) {
        bytes += rest->jobs[next].bytes;
        if (next > from && bytes > piece_bytes) break;
        ids.push_back(rest->jobs[next].id);
    }
    std::vector<Job> jobs;
    for (std::optional<Job>& job : reader.find(ids)) {
        if (job) jobs.push_back(*std::move(job));
    }
    std::string text;
    for (const std::string& job : request->format.texts(reader, jobs)) text.append(",").append(job);
    if (next == rest->jobs.size()) return json_piece(text + rest->end);
    StorePiece piece = json_piece(std::move(text));
    piece.rest = [request, rest, next](JobReader& again) {
        return read_rest(again, request, rest, next);
    };
    return piece;
}

StorePiece Planner::piece(const ListRequestPtr& request) && {
    std::optional<std::string> next;
    if (more_) next = cursor_after(request_.query, last_);
    std::string end = request_.format.end(next);
    if (rest_.empty()) text_ += end;
    StorePiece piece = json_piece(std::move(text_));
    if (next && !request_.format.path.empty()) {
        piece.response.headers.emplace_back(
            "Link", link_to_next(request_.format.path, request_.query, *next));
    }
    if (rest_.empty()) return piece;
    auto rest = std::make_shared<const Rest>(Rest{std::move(rest_), std::move(end)});
    piece.rest = [request, rest](JobReader& reader) { return read_rest(reader, request, rest, 0); };
    return piece;
}

}  // namespace

JobListFormat job_list_format(std::string path, std::string_view next_name, JobText text) {
    JobListFormat format;
    format.begin = R"({"jobs":[)";
    format.texts = [text = std::move(text)](JobReader&, std::span<const Job> jobs) {
        std::vector<std::string> texts;
        for (const Job& job : jobs) texts.push_back(text(job));
        return texts;
    };
    format.end = [name = std::string(next_name)](const std::optional<std::string>& next) {
        return next ? fmt::format(R"(],"{}":"{}"}})", name, *next)
                    : fmt::format(R"(],"{}":null}})", name);
    };
    format.path = std::move(path);
    return format;
}

PieceQuestion job_list(JobListQuery query, JobListFormat format) {
    auto request =
        std::make_shared<const ListRequest>(ListRequest{std::move(query), std::move(format)});
    const auto whole = [request](JobReader& reader) -> Result<StorePiece> {
        Planner planner(*request);
        while (!planner.read(reader, read_bytes)) {
        }
        return std::move(planner).piece(request);
    };
    return [request, whole](JobReader& reader) -> Result<StorePiece> {
        Planner planner(*request);
        if (planner.read(reader, quick_bytes)) return std::move(planner).piece(request);
        return StorePiece{.rest = whole, .takes_long = true};
    };
}

}  // namespace sluice::http
