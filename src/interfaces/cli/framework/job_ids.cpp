#include "interfaces/cli/framework/job_ids.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "domain/values/sha256.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t id_digits = 24;
constexpr std::size_t short_digits = 12;
constexpr int candidates_max = 5;

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// One small file per engine and tenant.
std::optional<fs::path> last_job_file(const client::Options& options) {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    fs::path folder;
    if (state != nullptr && *state == '/') {
        folder = state;
    } else if (home != nullptr && *home == '/') {
        folder = fs::path(home) / ".local" / "state";
    } else {
        return std::nullopt;
    }
    const std::string engine = options.server + "\n" + options.tenant;
    return folder / "sluice" / ("last-" + to_hex(sha256(engine)).substr(0, 16));
}

std::optional<std::string> remembered_job(const client::Options& options) {
    const auto path = last_job_file(options);
    if (!path) return std::nullopt;
    std::ifstream file(*path);
    std::string id;
    if (!(file >> id) || id.size() != id_digits || !is_hex(id)) return std::nullopt;
    return id;
}

bool is_there(Session& session, const std::string& id) {
    try {
        session.asking().get(id);
        return true;
    } catch (const client::Error& error) {
        if (error.status() != 404) throw;
        return false;
    }
}

// The store may have been deleted since; then @last means the newest job.
std::string find_last_job(Session& session) {
    const auto remembered = remembered_job(session.options());
    if (remembered && (session.shows_curl() || is_there(session, *remembered))) return *remembered;
    client::JobQuery query;
    query.limit = 1;
    const auto page = session.asking().list(query);
    if (page.jobs.empty()) {
        throw CommandError(exit_not_found,
                           "@last: there is no job yet; submit one with: sluice run demo.hello");
    }
    return page.jobs.front().id;
}

std::string find_by_prefix(Session& session, const std::string& prefix) {
    client::JobQuery query;
    query.filters.emplace_back("id_prefix", prefix);
    query.limit = candidates_max + 1;
    const auto page = session.asking().list(query);
    if (page.jobs.empty()) {
        throw CommandError(exit_not_found, fmt::format("no job's id begins with {}", prefix));
    }
    if (page.jobs.size() == 1) return page.jobs.front().id;
    std::string message = fmt::format("{} is the beginning of more than one id:", prefix);
    for (std::size_t i = 0; i < page.jobs.size() && i < candidates_max; ++i) {
        const client::Job& job = page.jobs[i];
        message += fmt::format("\n  {}  {}  {}", job.id, printable(job.type), to_text(job.state));
    }
    if (page.jobs.size() > candidates_max) message += "\n  …";
    throw CommandError(exit_usage, message);
}

}  // namespace

std::string find_job_id(Session& session, const std::string& word) {
    if (word == "@last") return find_last_job(session);
    std::string id = word;
    std::transform(id.begin(), id.end(), id.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!is_hex(id) || id.size() > id_digits) {
        throw CommandError(exit_usage,
                           fmt::format("\"{}\" is no job id; an id has 24 hex digits, of which the "
                                       "first few are enough, and @last is the job that you "
                                       "submitted last",
                                       printable(word)));
    }
    return id.size() == id_digits ? id : find_by_prefix(session, id);
}

std::vector<std::string> find_job_ids(Session& session, const std::vector<std::string>& words) {
    std::vector<std::string> ids;
    for (const std::string& word : words) {
        std::string id = find_job_id(session, word);
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
    }
    return ids;
}

void remember_last_job(const client::Options& options, const std::string& id) {
    const auto path = last_job_file(options);
    if (!path) return;
    std::error_code ignored;
    fs::create_directories(path->parent_path(), ignored);
    // Written to a file beside it, which is then renamed, so that no reader sees half an id.
    fs::path draft = *path;
    draft += fmt::format(".{}", getpid());
    if (!(std::ofstream(draft) << id << "\n").flush()) return;
    fs::rename(draft, *path, ignored);
    if (ignored) fs::remove(draft, ignored);
}

std::size_t short_id_length(const std::vector<std::string>& ids) {
    std::vector<std::string> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    std::size_t length = short_digits;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const auto [a, b] = std::mismatch(sorted[i - 1].begin(), sorted[i - 1].end(),
                                          sorted[i].begin(), sorted[i].end());
        if (a == sorted[i - 1].end()) continue;
        length = std::max(length, static_cast<std::size_t>(a - sorted[i - 1].begin()) + 1);
    }
    return std::min(length, id_digits);
}

}  // namespace sluice::cli
