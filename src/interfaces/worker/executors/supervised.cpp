#include "interfaces/worker/executors/supervised.hpp"

#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/executors/line_splitter.hpp"
#include "interfaces/worker/leash/descriptor.hpp"

namespace sluice::worker {
namespace {

using namespace std::chrono_literals;
using client::boot_now;
using client::BootTime;
using client::StopReason;

// The moments at which the leash ends the command unless the lease is renewed before.
//
// The group must be gone *before* the lease ends, for then another worker may have the job. A tenth
// of the lease is kept for the leash to wake up and the processes to die: 3 s of the usual 30, and
// at least 100 ms, which a busy machine needs. SIGTERM comes another fifth before, or `stop_grace`
// if that is less. Leases are renewed every third of their length, so that, whatever the lease's
// length, two renewals must fail before the command is told to end.
struct Hold {
    BootTime end{};
    Millis notice{};

    static Hold of_lease(BootTime leased_until, Millis stop_grace) {
        const auto left = std::chrono::duration_cast<Millis>(leased_until - boot_now());
        const Millis margin = std::clamp<Millis>(left / 10, 100ms, 3s);
        return {leased_until - margin, std::clamp<Millis>(left / 5, 0ms, stop_grace)};
    }
};

// A running command. Renewals of the lease come on another thread, and may come late.
class Renewable {
  public:
    Renewable(Leash::Child started, const Hold& hold, Millis stop_grace)
        : child(std::move(started)), stop_grace_(stop_grace), ends_at_(hold.end - hold.notice) {}

    void renew(BootTime leased_until) {
        const Hold hold = Hold::of_lease(leased_until, stop_grace_);
        ends_at_ = hold.end - hold.notice;
        child.must_end_by(hold.end, hold.notice);
    }

    bool lease_ran_out() const { return boot_now() >= ends_at_.load(); }

    Leash::Child child;

  private:
    Millis stop_grace_;
    std::atomic<BootTime> ends_at_;
};

// One of the pipes that a command writes to.
class Outlet {
  public:
    Outlet() : pipe_(make_pipe()) {}

    int writer() const { return pipe_.writer.get(); }
    int reader() const { return pipe_.reader.get(); }
    void close_writer() { pipe_.writer.reset(); }

    // Reads once; false when there is no data now, or none will come any more.
    template <class Take>
    bool read(std::string& buffer, Take&& take) {
        if (!pipe_.reader) return false;
        const ssize_t count = ::read(pipe_.reader.get(), buffer.data(), buffer.size());
        if (count > 0) {
            take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
            return true;
        }
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) pipe_.reader.reset();
        return false;
    }

    // Reads all present data. No more than that, since a process that left the group may go on
    // writing.
    template <class Take>
    void drain(std::string& buffer, Take&& take) {
        int waiting = 0;
        if (!pipe_.reader || ::ioctl(pipe_.reader.get(), FIONREAD, &waiting) != 0) return;
        while (waiting > 0) {
            const bool more = read(buffer, [&](std::string_view bytes) {
                waiting -= static_cast<int>(bytes.size());
                take(bytes);
            });
            if (!more) return;
        }
    }

  private:
    Pipe pipe_;
};

class Supervisor {
  public:
    Supervisor(client::Context& context, const Supervision& supervision)
        : context_(context),
          supervision_(supervision),
          output_lines_(lines_of(Stream::output)),
          error_lines_(lines_of(Stream::errors)) {
        buffer_.resize(32 * 1024);
        if (supervision.takes_result) result_.emplace();
    }

    Ended run(Leash& leash, Command& command) {
        command.output = output_.writer();
        command.errors = errors_.writer();
        if (result_) command.result = result_->writer();
        const Hold hold = Hold::of_lease(context_.leased_until(), supervision_.stop_grace);
        // Shared with the callback, which may be called until the job, not only the command, ends.
        const auto running = std::make_shared<Renewable>(
            leash.start(command, hold.end, hold.notice), hold, supervision_.stop_grace);
        output_.close_writer();
        errors_.close_writer();
        if (result_) result_->close_writer();
        context_.on_renewal([running](BootTime until) { running->renew(until); });
        running->renew(context_.leased_until());  // it may have been renewed while it started
        started_at_ = boot_now();

        while (!ended_.has_value()) turn(*running);
        drain();
        end_.exit = *ended_;
        // Without a leash that could tell, the worker itself has killed it.
        const bool is_killed_in_time = end_.exit.signal != 0 && end_.stop == StopReason::none &&
                                       !end_.limit_reached && running->lease_ran_out();
        end_.lease_ran_out = end_.exit.by_lease || is_killed_in_time;
        return std::move(end_);
    }

  private:
    LineSplitter lines_of(Stream stream) {
        return LineSplitter([this, stream](std::string_view text, bool continues) {
            if (supervision_.on_line) supervision_.on_line({stream, text, continues});
        });
    }

    auto to_lines(LineSplitter& lines) {
        return [&lines](std::string_view bytes) { lines.add(bytes); };
    }

    // Data beyond the limit is read as well, so that the command does not wait for ever.
    auto to_result() {
        return [this](std::string_view bytes) {
            const std::size_t free_bytes = result_bytes_max - end_.result.size();
            end_.result.append(bytes.substr(0, free_bytes));
            if (bytes.size() > free_bytes) end_.result_too_large = true;
        };
    }

    void turn(Renewable& running) {
        const bool is_told = told_ != StopReason::none;
        std::array<pollfd, 5> watched{
            pollfd{running.child.descriptor(), POLLIN, 0},
            pollfd{is_told ? -1 : context_.cancel().descriptor(), POLLIN, 0},
            pollfd{output_.reader(), POLLIN, 0},
            pollfd{errors_.reader(), POLLIN, 0},
            pollfd{result_ ? result_->reader() : -1, POLLIN, 0},
        };
        ::poll(watched.data(), watched.size(), timeout());
        if (watched[2].revents != 0) output_.read(buffer_, to_lines(output_lines_));
        if (watched[3].revents != 0) errors_.read(buffer_, to_lines(error_lines_));
        if (watched[4].revents != 0) result_->read(buffer_, to_result());
        if (watched[0].revents != 0) ended_ = running.child.ended();
        if (!ended_.has_value()) stop_if_told(running.child);
    }

    // The token's descriptor tells of the first reason only; a lost lease must be polled for.
    int timeout() const {
        if (told_ != StopReason::none && told_ != StopReason::lease_lost) return 100;
        if (!may_reach_limit()) return -1;
        const auto left = started_at_ + supervision_.limit - boot_now();
        return static_cast<int>(
            std::clamp<std::int64_t>(std::chrono::ceil<Millis>(left).count(), 0, 1'000'000));
    }

    bool may_reach_limit() const {
        return supervision_.limit > 0ms && !end_.limit_reached && told_ == StopReason::none;
    }

    void stop_if_told(Leash::Child& child) {
        const StopReason reason = context_.cancel().reason();
        if (reason != told_) {
            told_ = reason;
            // A command that was stopped for its own limit has ended for that reason, unless the
            // lease is lost.
            if (!end_.limit_reached || reason == StopReason::lease_lost) end_.stop = reason;
            child.stop(reason == StopReason::lease_lost ? 0ms : supervision_.stop_grace);
        }
        if (may_reach_limit() && boot_now() >= started_at_ + supervision_.limit) {
            end_.limit_reached = true;
            child.stop(supervision_.stop_grace);
        }
    }

    void drain() {
        output_.drain(buffer_, to_lines(output_lines_));
        errors_.drain(buffer_, to_lines(error_lines_));
        if (result_) result_->drain(buffer_, to_result());
        output_lines_.finish();
        error_lines_.finish();
    }

    client::Context& context_;
    const Supervision& supervision_;
    LineSplitter output_lines_;
    LineSplitter error_lines_;
    Outlet output_{};
    Outlet errors_{};
    std::optional<Outlet> result_{};
    std::string buffer_{};
    BootTime started_at_{};
    StopReason told_ = StopReason::none;  // the reason to stop that the command was told of
    std::optional<Exit> ended_{};
    Ended end_{};
};

}  // namespace

Ended supervise(Leash& leash, Command command, client::Context& context,
                const Supervision& supervision) {
    return Supervisor(context, supervision).run(leash, command);
}

}  // namespace sluice::worker
