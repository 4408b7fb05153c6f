#include "checker/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::checker {
namespace {

constexpr std::size_t findings_shown = 10;

std::string result_of(const Row& row) {
    if (!row.findings().empty()) return fmt::format("{} BROKEN", row.findings().size());
    return row.cases() == 0 ? "looked at nothing" : "holds";
}

}  // namespace

bool Verdict::is_clean() const {
    return broken().empty();
}

std::vector<std::string> Verdict::broken() const {
    std::vector<std::string> ids;
    for (const Row& row : rows) {
        if (!row.findings().empty()) ids.push_back(row.id());
    }
    return ids;
}

std::vector<std::string> Verdict::unlooked() const {
    std::vector<std::string> ids;
    for (const Row& row : rows) {
        if (row.cases() == 0) ids.push_back(row.id());
    }
    return ids;
}

std::string Verdict::table() const {
    std::string text;
    for (const auto& [name, count] : counts) text += fmt::format("{:<36} {:>9}\n", name, count);
    text += '\n';
    for (const Row& row : rows) {
        text += fmt::format("{:<4} {:<46} {:>9}  {}\n", row.id(), row.title(), row.cases(),
                            result_of(row));
    }
    for (const Row& row : rows) {
        const std::size_t shown = std::min(row.findings().size(), findings_shown);
        for (std::size_t i = 0; i < shown; ++i) {
            const Finding& finding = row.findings()[i];
            text += fmt::format("{} {}: {}\n", row.id(), finding.where, finding.what);
        }
        if (shown < row.findings().size()) {
            text += fmt::format("{} and {} more\n", row.id(), row.findings().size() - shown);
        }
    }
    return text;
}

}  // namespace sluice::checker
