#pragma once

#include <memory>
#include <string_view>

#include "interfaces/cli/line_writer.hpp"
#include "interfaces/cli/screen.hpp"
#include "sluice/worker.hpp"

namespace sluice::cli {

// What the operator of a worker reads, on standard error. It never holds up who talks: when nobody
// reads, lines are left out. Any thread.
class Talk {
  public:
    Talk(bool no_colour, bool is_quiet);

    // What goes on; not when it should be quiet.
    void say(Style style, std::string_view mark, std::string_view text);

    // What the operator should know in any case.
    void complain(std::string_view text);

    // Waits until all is written, though not for a reader who does not read.
    void finish() { lines_.flush(); }

    const Screen& screen() const { return screen_; }

  private:
    void write(Style style, std::string_view mark, std::string_view text);

    Screen screen_;
    bool is_quiet_;
    LineWriter lines_;
};

// Does what `worker` does, and tells of each job when it begins and how it ended.
std::shared_ptr<client::JobWorker> announced(std::shared_ptr<client::JobWorker> worker,
                                             std::shared_ptr<Talk> talk);

}  // namespace sluice::cli
