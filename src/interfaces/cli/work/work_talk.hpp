#pragma once

#include <memory>
#include <string_view>

#include "interfaces/cli/terminal/line_writer.hpp"
#include "interfaces/cli/terminal/screen.hpp"
#include "sluice/worker.hpp"

namespace sluice::cli {

// The messages of a worker to its operator, on standard error. They never hold up a caller: when
// the output is not read, lines are left out. Any thread.
class Talk {
  public:
    Talk(bool no_colour, bool is_quiet);

    // A message about the progress; not when it should be quiet.
    void say(Style style, std::string_view mark, std::string_view text);

    // A message that the operator should get in any case.
    void complain(std::string_view text);

    // Waits until all is written, though not for a reader that does not read.
    void finish() { lines_.flush(); }

    const Screen& screen() const { return screen_; }

  private:
    void write(Style style, std::string_view mark, std::string_view text);

    Screen screen_;
    bool is_quiet_;
    LineWriter lines_;
};

// A worker that does the work of `worker`, and reports each job when it begins and how it ended.
std::shared_ptr<client::JobWorker> announced(std::shared_ptr<client::JobWorker> worker,
                                             std::shared_ptr<Talk> talk);

}  // namespace sluice::cli
