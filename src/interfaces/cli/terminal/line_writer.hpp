#pragma once

#include <memory>
#include <string>

namespace sluice::cli {

// Writes lines to a descriptor on a thread of its own, so that a reader that does not read holds up
// no caller: the waiting lines are bounded, and lines beyond that are counted and left out. Any
// thread.
class LineWriter {
  public:
    explicit LineWriter(int descriptor);
    ~LineWriter();
    LineWriter(const LineWriter&) = delete;
    LineWriter& operator=(const LineWriter&) = delete;

    // Returns at once. The line has its end. The first one starts the thread, which has the signal
    // mask of the caller.
    void write(std::string line);

    // Waits until all lines are written, though not for a reader that does not read.
    void flush();

  private:
    class Lines;
    std::shared_ptr<Lines> lines_;  // shared with the thread, which may outlive this
};

}  // namespace sluice::cli
