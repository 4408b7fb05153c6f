#include "interfaces/cli/terminal/line_writer.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace sluice::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t waiting_bytes_max = 256 * 1024;
constexpr auto flush_patience = 500ms;

// Bytes that the descriptor does not take are lost.
void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count >= 0) {
            text.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            pollfd wanted{descriptor, POLLOUT, 0};
            ::poll(&wanted, 1, -1);
        } else if (errno != EINTR) {
            return;
        }
    }
}

}  // namespace

class LineWriter::Lines {
  public:
    explicit Lines(int descriptor) : descriptor_(descriptor) {}

    // Returns whether there is no writing thread yet, so that one must be started.
    bool add(std::string line) {
        const std::lock_guard lock(mutex_);
        if (waiting_.size() + line.size() > waiting_bytes_max) {
            ++left_out_;
        } else {
            waiting_ += line;
        }
        changed_.notify_all();
        return !std::exchange(has_writer_, true);
    }

    void writer_failed() {
        const std::lock_guard lock(mutex_);
        has_writer_ = false;
    }

    void write_until_closed() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return has_some() || is_closed_; });
            if (!has_some()) return;
            std::string text = std::exchange(waiting_, {});
            if (const std::size_t count = std::exchange(left_out_, 0); count > 0) {
                text +=
                    fmt::format("… {} line{} not shown\n", count, count == 1 ? " was" : "s were");
            }
            is_writing_ = true;
            lock.unlock();
            write_all(descriptor_, text);
            lock.lock();
            is_writing_ = false;
            changed_.notify_all();
        }
    }

    void flush() {
        std::unique_lock lock(mutex_);
        if (!has_writer_) return;
        changed_.wait_for(lock, flush_patience, [&] { return !has_some() && !is_writing_; });
    }

    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
    }

  private:
    bool has_some() const { return !waiting_.empty() || left_out_ > 0; }

    const int descriptor_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string waiting_;
    std::size_t left_out_ = 0;  // lines, since the waiting ones came
    bool has_writer_ = false;
    bool is_writing_ = false;
    bool is_closed_ = false;
};

LineWriter::LineWriter(int descriptor) : lines_(std::make_shared<Lines>(descriptor)) {}

LineWriter::~LineWriter() {
    lines_->flush();
    lines_->close();
}

void LineWriter::write(std::string line) {
    if (!lines_->add(std::move(line))) return;
    try {
        std::thread([lines = lines_] { lines->write_until_closed(); }).detach();
    } catch (const std::system_error&) {
        lines_->writer_failed();  // the next line tries again
    }
}

void LineWriter::flush() {
    lines_->flush();
}

}  // namespace sluice::cli
