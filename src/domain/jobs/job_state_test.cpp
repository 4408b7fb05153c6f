#include "domain/jobs/job_state.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace sluice {
namespace job_state_test {

constexpr int state_count = 6;
constexpr int step_count = 10;

std::string arrow(std::string_view from, std::string_view to, std::string_view step) {
    return std::string(from) + " --> " + std::string(to) + " : " + std::string(step);
}

std::string trimmed(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The lines of each Mermaid state diagram in the document, without those that only style it.
std::vector<std::multiset<std::string>> diagrams_in(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::multiset<std::string>> diagrams;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        line = trimmed(line);
        if (line == "stateDiagram-v2") {
            inside = true;
            diagrams.emplace_back();
        } else if (line.starts_with("```")) {
            inside = false;
        } else if (inside && !line.empty() && !line.starts_with("direction ")) {
            diagrams.back().insert(line);
        }
    }
    return diagrams;
}

TEST(JobLifecycleDocument, DrawsExactlyTheTransitionTable) {
    std::multiset<std::string> table{"[*] --> queued : submitted"};
    for (const Transition& row : transitions) {
        table.insert(arrow(to_text(row.from), to_text(row.to), to_text(row.step)));
    }

    const auto diagrams = diagrams_in(SLUICE_SOURCE_DIR "/docs/job-lifecycle.md");

    ASSERT_EQ(diagrams.size(), 1u);
    EXPECT_EQ(diagrams.front(), table);
}

TEST(JobLifecycleDocument, NamesEveryStateAndEveryStep) {
    std::ifstream file(SLUICE_SOURCE_DIR "/docs/job-lifecycle.md");
    std::stringstream text;
    text << file.rdbuf();

    for (int i = 0; i < state_count; ++i) {
        const std::string name = "`" + std::string(to_text(static_cast<JobState>(i))) + "`";
        EXPECT_NE(text.str().find(name), std::string::npos) << name;
    }
    for (int i = 0; i < step_count; ++i) {
        const std::string name = "`" + std::string(to_text(static_cast<Step>(i))) + "`";
        EXPECT_NE(text.str().find(name), std::string::npos) << name;
    }
}

TEST(TransitionTable, HasOneRowForEachStateAndStep) {
    std::set<std::pair<JobState, Step>> seen;

    for (const Transition& row : transitions) {
        EXPECT_TRUE(seen.insert({row.from, row.step}).second)
            << to_text(row.from) << ' ' << to_text(row.step);
    }
}

TEST(TransitionTable, AllowsNothingElse) {
    int allowed = 0;

    for (int state = 0; state < state_count; ++state) {
        for (int step = 0; step < step_count; ++step) {
            allowed += next_state(static_cast<JobState>(state), static_cast<Step>(step)) ? 1 : 0;
        }
    }

    EXPECT_EQ(allowed, 9);
}

TEST(TransitionTable, LeavesAFinalStateByNoStep) {
    for (const JobState state :
         {JobState::succeeded, JobState::failed, JobState::canceled, JobState::timed_out}) {
        EXPECT_TRUE(is_final(state));
        for (int step = 0; step < step_count; ++step) {
            EXPECT_EQ(next_state(state, static_cast<Step>(step)), std::nullopt) << to_text(state);
        }
    }
    EXPECT_FALSE(is_final(JobState::queued));
    EXPECT_FALSE(is_final(JobState::running));
}

TEST(TransitionTable, ReachesEveryState) {
    std::set<JobState> reached{JobState::queued};

    for (const Transition& row : transitions) reached.insert(row.to);

    EXPECT_EQ(reached.size(), static_cast<std::size_t>(state_count));
}

TEST(JobStateText, RoundTripsAndIsUnique) {
    std::set<std::string_view> names;

    for (int i = 0; i < state_count; ++i) {
        const auto state = static_cast<JobState>(i);
        EXPECT_EQ(parse_job_state(to_text(state)), state);
        names.insert(to_text(state));
    }

    EXPECT_EQ(names.size(), static_cast<std::size_t>(state_count));
}

TEST(JobStateText, RefusesOtherWords) {
    for (const char* text : {"", "Queued", "queued ", "cancelled", "pending", "timed out"}) {
        EXPECT_EQ(parse_job_state(text), std::nullopt) << text;
    }
}

TEST(StepText, IsUnique) {
    std::set<std::string_view> names;

    for (int i = 0; i < step_count; ++i) names.insert(to_text(static_cast<Step>(i)));

    EXPECT_EQ(names.size(), static_cast<std::size_t>(step_count));
    EXPECT_FALSE(names.contains(""));
}

}  // namespace job_state_test
}  // namespace sluice
