#include "interfaces/http/api_jobs/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice::http::api_jobs {
namespace {

struct Row {
    JobState state;
    std::string_view in_state;
    std::string_view in_status;

    std::string_view word(Vocabulary vocabulary) const {
        return vocabulary == Vocabulary::state ? in_state : in_status;
    }
};

constexpr std::array rows{
    Row{JobState::queued, "pending", "pending"},
    Row{JobState::running, "running", "running"},
    Row{JobState::succeeded, "success", "succeeded"},
    Row{JobState::failed, "failed", "failed"},
    Row{JobState::canceled, "cancelled", "canceled"},
    Row{JobState::timed_out, "failed", "timed_out"},
};

std::vector<JobState> states_called(std::string_view word, Vocabulary vocabulary) {
    std::vector<JobState> states;
    for (const Row& row : rows) {
        if (row.word(vocabulary) == word) states.push_back(row.state);
    }
    return states;
}

Vocabulary other(Vocabulary vocabulary) {
    return vocabulary == Vocabulary::state ? Vocabulary::status : Vocabulary::state;
}

}  // namespace

std::string_view word_for(JobState state, Vocabulary vocabulary) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.state == state; });
    return row->word(vocabulary);
}

Result<std::vector<JobState>> read_states(std::string_view words, Vocabulary vocabulary) {
    std::vector<JobState> states;
    while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find(','));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
        auto called = states_called(word, vocabulary);
        if (called.empty()) called = states_called(word, other(vocabulary));
        if (called.empty()) {
            return Error{ErrorCode::malformed,
                         fmt::format("\"{}\" is not a state; states are pending, running, success "
                                     "or succeeded, failed, cancelled or canceled, timed_out",
                                     word),
                         ""};
        }
        states.insert(states.end(), called.begin(), called.end());
    }
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    return states;
}

}  // namespace sluice::http::api_jobs
