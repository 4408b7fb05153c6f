#include "interfaces/cli/limits/flag_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::cli {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

// Members whose flag has another name, or holds several of them.
constexpr auto flags_of_members = std::to_array<Words>({
    {"/rate", "--rate:"},
    {"/rate/count", "--rate: the number"},
    {"/rate/period_ms", "--rate: the time, in milliseconds,"},
    {"/rate/burst", "--burst:"},
});

// Longer ones come before those that they begin with.
constexpr auto flags_of_words = std::to_array<Words>({
    {R"("paused": true)", "--paused"},
    {"give max_active, rate, or paused", "give --max-active, --rate, or --paused"},
    {"give max_active, max_per_hour, or paused", "give --max-active, --max-per-hour, or --paused"},
    {"max_active", "--max-active"},
    {"max_per_hour", "--max-per-hour"},
    {"POST /api/v1/quotas/{id}", "sluice quota set"},
    {"POST /api/v1/maintenance", "sluice maintenance start"},
    {"POST /api/v1/tenants/{id}/block", "sluice tenant block"},
    {"POST /api/v1/tenants/block", "sluice tenant block"},
});

std::string flag_of(const std::string& pointer) {
    for (const auto& [member, flag] : flags_of_members) {
        if (pointer == member) return std::string(flag);
    }
    std::string flag = "--" + pointer.substr(1, pointer.find('/', 1) - 1) + ":";
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

std::string in_words_of_flags(std::string text) {
    for (const auto& [member, flag] : flags_of_words) {
        for (std::size_t at = text.find(member); at != text.npos;
             at = text.find(member, at + flag.size())) {
            text.replace(at, member.size(), flag);
        }
    }
    return text;
}

}  // namespace

std::string in_flag_words(const std::string& pointer, const std::string& message,
                          std::string_view argument) {
    const bool is_of_argument = !pointer.empty() && pointer.substr(1) == argument;
    if (pointer.empty() || is_of_argument) return in_words_of_flags(message);
    const std::string beginning = pointer.substr(1) + ":";
    const std::string detail = in_words_of_flags(
        message.starts_with(beginning) ? message.substr(beginning.size()) : " " + message);
    return flag_of(pointer) + detail;
}

std::string call_limits(Session& session, const std::string& method, const std::string& path,
                        const std::string& body, bool repeatable, std::string_view argument,
                        const client::Headers& headers) {
    try {
        return session.client().call(method, path, body, repeatable, headers);
    } catch (const client::Error& error) {
        if (error.kind() != client::ErrorKind::refused) throw;
        throw client::Error(error.kind(), error.status(), error.code(),
                            in_flag_words(error.pointer(), error.what(), argument), error.pointer(),
                            error.retry_after());
    }
}

}  // namespace sluice::cli
