#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/worker/executors/supervised.hpp"

namespace sluice::worker {

// Reads a command's standard output and error, as docs/workers.md describes it: log lines, and
// lines that begin with "::", which control the log and the progress.
class CommandOutput {
  public:
    explicit CommandOutput(client::Context& context) : context_(context) {}

    void take(const OutputLine& line);

    // The last line of standard output that is not blank, if it is a JSON object or array.
    std::optional<std::string> result() const;

    // The end of standard error, or of standard output when there is none; for an error message.
    std::string_view ending() const;

  private:
    bool obey(std::string_view line);
    bool set_progress(std::string_view words);
    void open_group(std::string_view name);
    bool close_group();
    void log(client::Level level, std::string_view text);
    void remember(const OutputLine& line);

    client::Context& context_;
    std::vector<std::string> groups_{};  // that are open, the innermost last
    std::size_t groups_too_deep_ =
        0;                         // open as well, but not kept: their lines are the innermost's
    std::string group_data_{};     // of lines inside the innermost
    std::string last_line_{};      // of standard output; empty: not a candidate
    bool in_output_line_ = false;  // the next piece continues the line
    bool in_errors_line_ = false;
    std::string output_end_{};
    std::string errors_end_{};
};

}  // namespace sluice::worker
