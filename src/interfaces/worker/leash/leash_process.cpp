// The leash process: one thread that waits for four sources of events.
//
//   the socket   commands to start; its end means that the worker is gone
//   SIGCHLD      a command, or an orphan of one, has ended
//   a timer      a group must get SIGTERM or SIGKILL
//   an eventfd   the worker has changed something on the board
//
// Each turn of the loop reads the whole board after it has read all these events, and before it
// sets the timer, so that no order on it is missed. A moment that is moved on needs no event: the
// timer goes off at the old one, which then is no longer on the board.
//
// When a command ends, the rest of its group is killed before the command is reaped, so that the
// group's number cannot belong to another group by then. Only then, and once no process of the
// group is left, is the worker told.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <unordered_map>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/leash/leash.hpp"
#include "interfaces/worker/leash/live_group.hpp"
#include "interfaces/worker/leash/spawn.hpp"

namespace sluice::worker {
namespace {

constexpr std::int64_t look_again_ns = 5'000'000;
constexpr std::int64_t look_closely_after_ns = 500'000'000;
constexpr std::int64_t give_up_after_ns = 10'000'000'000;
constexpr std::int64_t last_wait_ns = 1'000'000'000;
constexpr int orders_a_turn = 16;

std::int64_t now_ns() {
    return client::boot_now().count();
}

// A command and all processes that it started and that stayed in its group.
struct Group {
    std::uint32_t slot = 0;
    pid_t pid = 0;
    Descriptor report{};
    std::int64_t warned_for = never;   // the term_at for which it got SIGTERM
    std::int64_t stopped_for = never;  // the stop_kill_at for which it got SIGTERM
    bool killed = false;
    bool ended = false;  // the command has; others of its group may take a moment to die
    std::int64_t ended_at = 0;
    ExitRecord record{};

    std::int64_t due(const BoardSlot& wanted) const {
        if (killed) return never;
        const std::int64_t term_at = wanted.term_at;
        return std::min({term_at == warned_for ? never : term_at, wanted.kill_at.load(),
                         wanted.stop_kill_at.load()});
    }
};

void ask_to_end(const Group& group) {
    ::kill(-group.pid, SIGTERM);
    ::kill(-group.pid, SIGCONT);
}

void kill_group(Group& group) {
    ::kill(-group.pid, SIGKILL);
    group.killed = true;
}

// Carries out the worker's present orders for the group.
void enforce(Group& group, std::uint64_t child, const BoardSlot& wanted, std::int64_t now) {
    if (group.killed) return;
    const std::int64_t term_at = wanted.term_at;
    const std::int64_t kill_at = wanted.kill_at;
    const std::int64_t stop_kill_at = wanted.stop_kill_at;
    if (wanted.child != child) {
        kill_group(group);
    } else if (now >= std::min(kill_at, stop_kill_at)) {
        if (now >= kill_at) group.record.by_lease = 1;
        kill_group(group);
    } else if (stop_kill_at != group.stopped_for) {
        group.stopped_for = stop_kill_at;
        ask_to_end(group);
    } else if (now >= term_at && term_at != group.warned_for) {
        group.warned_for = term_at;
        group.record.by_lease = 1;
        ask_to_end(group);
    }
}

class LeashProcess {
  public:
    LeashProcess(Descriptor socket, Descriptor board, Descriptor wake)
        : socket_(std::move(socket)),
          board_(std::move(board)),
          wake_(std::move(wake)),
          ignored_(find_ignored_signals()) {
        sigset_t children;
        ::sigemptyset(&children);
        ::sigaddset(&children, SIGCHLD);
        ::sigprocmask(SIG_SETMASK, &children, nullptr);
        signals_ = Descriptor(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
        timer_ = Descriptor(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
        if (!signals_ || !timer_) {
            throw std::system_error(errno, std::system_category(), "cannot start the leash");
        }
        buffer_.resize(sizeof(StartOrder) + inline_text_bytes_max);
    }

    void run() {
        for (bool worker_lives = true; worker_lives;) {
            set_timer();
            pollfd watched[]{{socket_.get(), POLLIN, 0},
                             {signals_.get(), POLLIN, 0},
                             {timer_.get(), POLLIN, 0},
                             {wake_.get(), POLLIN, 0}};
            if (::poll(watched, 4, -1) < 0) continue;
            ++board_.steps();
            if (watched[3].revents != 0) drain(wake_);
            if (watched[2].revents != 0) drain(timer_);
            if (watched[1].revents != 0) {
                drain(signals_);
                reap();
            }
            if (watched[0].revents != 0) worker_lives = obey();
            enforce_all();
        }
        for (auto& [child, group] : groups_) kill_group(group);
        for (const auto until = now_ns() + last_wait_ns; !groups_.empty() && now_ns() < until;) {
            pollfd ended{signals_.get(), POLLIN, 0};
            ::poll(&ended, 1, 10);
            drain(signals_);
            reap();
        }
    }

  private:
    static void drain(const Descriptor& descriptor) {
        char bytes[1024];
        while (::read(descriptor.get(), bytes, sizeof bytes) > 0) {
        }
    }

    // Takes some orders; false when the worker is gone.
    bool obey() {
        for (int i = 0; i < orders_a_turn; ++i) {
            std::vector<Descriptor> came;
            const ssize_t count = receive(came);
            if (count == 0) return false;
            if (count < 0) return errno == EAGAIN || errno == EINTR || errno == EMFILE;
            ++board_.steps();
            ++board_.taken();
            StartOrder order;
            if (static_cast<std::size_t>(count) < sizeof order) continue;
            std::memcpy(&order, buffer_.data(), sizeof order);
            start(order, came, static_cast<std::size_t>(count) - sizeof order);
        }
        return true;
    }

    ssize_t receive(std::vector<Descriptor>& came) {
        iovec part{buffer_.data(), buffer_.size()};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * descriptors_max)];
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (count <= 0) return count;
        const cmsghdr* header = CMSG_FIRSTHDR(&message);
        if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return count;
        const std::size_t bytes = header->cmsg_len - CMSG_LEN(0);
        for (std::size_t at = 0; at < bytes; at += sizeof(int)) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + at, sizeof number);
            came.emplace_back(number);
        }
        return count;
    }

    // Assigns each descriptor that came to its purpose. Fewer came than were sent when this process
    // has too many open.
    static bool sort_out(const StartOrder& order, std::vector<Descriptor>& came, Descriptor& report,
                         Descriptor& text, std::array<int, 4>& standard) {
        std::size_t next = 0;
        for (std::size_t bit = 0; bit < descriptors_max; ++bit) {
            if ((order.descriptors & (1U << bit)) == 0) continue;
            if (next == came.size()) return false;
            Descriptor& descriptor = came[next++];
            if (1U << bit == report_bit) {
                report = std::move(descriptor);
            } else if (1U << bit == text_bit) {
                text = std::move(descriptor);
            } else {
                standard[bit - 1] = descriptor.get();
            }
        }
        return true;
    }

    bool read_text(const StartOrder& order, const Descriptor& file, std::size_t inline_bytes,
                   std::string& text) const {
        if (!file) {
            if (inline_bytes != order.text_bytes) return false;
            text.assign(buffer_.data() + sizeof order, inline_bytes);
            return true;
        }
        text.resize(order.text_bytes);
        std::size_t done = 0;
        while (done < text.size()) {
            const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return false;
            done += static_cast<std::size_t>(count);
        }
        return true;
    }

    void start(const StartOrder& order, std::vector<Descriptor>& came, std::size_t inline_bytes) {
        Group group{.slot = order.slot % LeashBoard::slots};
        BoardSlot& wanted = board_[group.slot];
        if (wanted.child != order.child) return;  // it is not wanted any more
        end_former_owner(wanted);
        Descriptor file;
        std::array<int, 4> standard{-1, -1, -1, -1};
        std::string text;
        Spawned spawned{.error = EMFILE, .step = StartStep::prepare};
        if (sort_out(order, came, group.report, file, standard)) {
            spawned.error = EINVAL;
            if (now_ns() >= wanted.kill_at) {
                spawned = {.error = ETIME, .step = StartStep::in_time};
            } else if (read_text(order, file, inline_bytes, text)) {
                if (auto command = read_command(text)) {
                    spawned = spawn(*command, standard, ignored_, wanted.pid);
                }
            }
        }
        if (spawned.pid == 0) {
            group.record.start_error = spawned.error;
            group.record.start_step = static_cast<std::int32_t>(spawned.step);
            tell(group);
            return;
        }
        group.pid = spawned.pid;
        by_pid_[spawned.pid] = order.child;
        groups_.emplace(order.child, std::move(group));
    }

    // Writes how it ended; the worker may have left the slot meanwhile, and given it to another
    // command.
    void tell(const Group& group) {
        std::int32_t pid = group.pid;
        board_[group.slot].pid.compare_exchange_strong(pid, 0);
        [[maybe_unused]] const ssize_t ignored =
            ::write(group.report.get(), &group.record, sizeof group.record);
    }

    // The slot may have been that of another command, which is no longer on the board.
    void end_former_owner(const BoardSlot& slot) {
        const auto found = by_pid_.find(slot.pid);
        if (found != by_pid_.end()) kill_group(groups_.at(found->second));
    }

    // Orphans come to this process, too, since it is their subreaper.
    void reap() {
        for (;;) {
            siginfo_t seen{};
            if (::waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) != 0 || seen.si_pid == 0) {
                break;
            }
            const auto found = by_pid_.find(seen.si_pid);
            if (found != by_pid_.end()) {
                Group& group = groups_.at(found->second);
                kill_group(group);
                group.ended = true;
                group.ended_at = now_ns();
                if (seen.si_code == CLD_EXITED) {
                    group.record.code = seen.si_status;
                } else {
                    group.record.signal = seen.si_status;
                }
                ending_.push_back(found->second);
                by_pid_.erase(found);
            }
            ::waitid(P_PID, static_cast<id_t>(seen.si_pid), &seen, WEXITED | WNOHANG);
        }
        tell_of_ended();
    }

    // Tells the worker of each command whose whole group is gone.
    void tell_of_ended() {
        std::erase_if(ending_, [&](std::uint64_t child) {
            const Group& group = groups_.at(child);
            if (!is_gone(group)) return false;
            tell(group);
            groups_.erase(child);
            return true;
        });
    }

    // A process that hangs in the kernel dies late, perhaps never; it delays its own job only, and
    // not for ever.
    static bool is_gone(const Group& group) {
        if (::kill(-group.pid, 0) != 0 && errno == ESRCH) return true;
        const std::int64_t since = now_ns() - group.ended_at;
        if (since < look_closely_after_ns) return false;
        return since > give_up_after_ns || !has_live_process(group.pid);
    }

    void enforce_all() {
        if (!ending_.empty()) tell_of_ended();
        const std::int64_t now = now_ns();
        for (auto& [child, group] : groups_) enforce(group, child, board_[group.slot], now);
    }

    void set_timer() {
        std::int64_t next = ending_.empty() ? never : now_ns() + look_again_ns;
        for (const auto& [child, group] : groups_) {
            next = std::min(next, group.due(board_[group.slot]));
        }
        // A timer that goes off too early does no harm, and saves setting it for each command.
        if (next == never || (armed_for_ <= next && armed_for_ > now_ns())) return;
        armed_for_ = std::max<std::int64_t>(next, 1);
        itimerspec when{};
        when.it_value.tv_sec = armed_for_ / 1'000'000'000;
        when.it_value.tv_nsec = armed_for_ % 1'000'000'000;
        ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
    }

    Descriptor socket_;
    LeashBoard board_;
    Descriptor wake_;
    std::vector<int> ignored_;
    Descriptor signals_;
    Descriptor timer_;
    std::int64_t armed_for_ = 0;
    std::string buffer_;
    std::unordered_map<std::uint64_t, Group> groups_;
    std::unordered_map<pid_t, std::uint64_t> by_pid_;  // commands that have not been reaped
    std::vector<std::uint64_t> ending_;
};

// The descriptors that the worker gave to this process.
struct Given {
    Descriptor socket{};
    Descriptor board{};
    Descriptor wake{};
};

// Closes all descriptors that this process was started with, except those that it needs. 0 to 3
// stay taken, so that no later descriptor gets in the way of a command's own.
Given tidy_descriptors() {
    constexpr unsigned first_kept = 10;
    // From here on they are the lowest from ten on.
    for (const int number :
         {leash_socket_descriptor, leash_board_descriptor, leash_wake_descriptor}) {
        const int kept = static_cast<int>(first_kept) + number - leash_socket_descriptor;
        if (::dup3(number, kept, O_CLOEXEC) < 0) {
            throw std::system_error(errno, std::system_category(), "cannot start the leash");
        }
    }
    Given given{Descriptor(first_kept), Descriptor(first_kept + 1), Descriptor(first_kept + 2)};
    ::close_range(first_kept + 3, ~0U, 0);
    const int nothing = ::open("/dev/null", O_RDWR);
    if (nothing < 0) {
        throw std::system_error(errno, std::system_category(), "cannot start the leash");
    }
    for (int number = 0; number < 4; ++number) ::dup2(nothing, number);
    ::close_range(4, first_kept - 1, 0);
    if (nothing >= static_cast<int>(first_kept)) ::close(nothing);
    return given;
}

}  // namespace

int run_leash() {
    ::prctl(PR_SET_NAME, "sluice-leash");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGTSTP}) {
        ::signal(number, SIG_IGN);
    }
    Given given = tidy_descriptors();
    LeashProcess(std::move(given.socket), std::move(given.board), std::move(given.wake)).run();
    return 0;
}

}  // namespace sluice::worker
