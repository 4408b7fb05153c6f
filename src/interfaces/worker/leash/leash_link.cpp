#include "interfaces/worker/leash/leash_link.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/leash/command_environment.hpp"
#include "interfaces/worker/leash/live_group.hpp"

namespace sluice::worker {
namespace {

using namespace std::chrono_literals;
using client::boot_now;

constexpr auto look_every = 250ms;
constexpr auto fall_asleep_after = 10s;  // without commands
constexpr auto overdue_after = 1s;
constexpr auto start_overdue_after = 5s;
// The limit counts looks, not time: on a machine that is too busy, or after a pause of this
// process, the leash gets as much time to run as the thread that watches it.
constexpr int idle_looks_max = 12;
constexpr std::uint64_t starts_under_way_max = 32;
constexpr auto kernel_takes_within = 5s;
constexpr auto process_gone_within = 2s;
constexpr auto group_gone_within = 500ms;

[[noreturn]] void fail(int error, const char* what) {
    throw std::system_error(error, std::system_category(), what);
}

// Moves the descriptor above those that the new process gets, so that none overwrites another.
Descriptor moved_up(Descriptor descriptor) {
    return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 10));
}

// The leash is the same program, so variables that are needed to load it are passed on to it, and
// no further.
bool is_loader_variable(std::string_view name) {
    return name.starts_with("LD_") || name.ends_with("SAN_OPTIONS");
}

// The environment of the leash, and with it all variables that its commands can inherit.
std::vector<char*> leash_environment() {
    std::vector<char*> kept;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const std::string_view name = text.substr(0, text.find('='));
        if (is_usual_variable(name) || is_loader_variable(name)) kept.push_back(*variable);
    }
    kept.push_back(nullptr);
    return kept;
}

// The attributes and descriptors that the leash is started with, freed at the end.
class SpawnPlan {
  public:
    SpawnPlan(int socket, int board, int wake) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_adddup2(&actions_, socket, leash_socket_descriptor);
        ::posix_spawn_file_actions_adddup2(&actions_, board, leash_board_descriptor);
        ::posix_spawn_file_actions_adddup2(&actions_, wake, leash_wake_descriptor);
        ::posix_spawnattr_init(&attributes_);
        // Blocked until the leash has set which signals it ignores.
        sigset_t all;
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes_, &all);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        // A session of its own: signals to the worker's group do not reach it.
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    pid_t start() {
        std::string name = "sluice";
        std::string argument = "__leash";
        char* argv[]{name.data(), argument.data(), nullptr};
        std::vector<char*> environment = leash_environment();
        pid_t pid = 0;
        const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions_, &attributes_, argv,
                                        environment.data());
        if (error != 0) fail(error, "cannot start the leash process");
        return pid;
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace

LeashLink::LeashLink()
    : leash_wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!leash_wake_ || !wake_) fail(errno, "cannot make a descriptor for the leash");
    start_process();
    watcher_ = std::thread([this] { watch(); });
}

LeashLink::~LeashLink() {
    close();
}

void LeashLink::start_process() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail(errno, "cannot make a socket for the leash");
    }
    socket_ = Descriptor(ends[0]);
    const Descriptor far_end = moved_up(Descriptor(ends[1]));
    const Descriptor board(::fcntl(board_.descriptor(), F_DUPFD_CLOEXEC, 10));
    const Descriptor wake(::fcntl(leash_wake_.get(), F_DUPFD_CLOEXEC, 10));
    if (!far_end || !board || !wake) fail(errno, "cannot make a socket for the leash");
    process_ = SpawnPlan(far_end.get(), board.get(), wake.get()).start();
}

void LeashLink::close() {
    {
        const std::lock_guard lock(mutex_);
        if (closing_) return;
        closing_ = true;
        broken_ = true;
    }
    ::shutdown(socket_.get(), SHUT_RDWR);
    ::eventfd_write(wake_.get(), 1);
    watcher_.join();
}

LeashLink::Ticket LeashLink::enter(std::chrono::nanoseconds must_end_by,
                                   std::chrono::milliseconds notice) {
    const std::lock_guard lock(mutex_);
    Ticket ticket{.child = next_child_++};
    if (!free_slots_.empty()) {
        ticket.slot = free_slots_.back();
        free_slots_.pop_back();
    } else if (next_slot_ < LeashBoard::slots) {
        ticket.slot = next_slot_++;
    } else {
        fail(EAGAIN, "too many commands at once");
    }
    BoardSlot& slot = board_[ticket.slot];
    slot.term_at = (must_end_by - notice).count();
    slot.kill_at = must_end_by.count();
    slot.stop_kill_at = never;
    slot.child = ticket.child;
    watched_[ticket.child] = {.slot = ticket.slot};
    if (asleep_) {
        asleep_ = false;
        ::eventfd_write(wake_.get(), 1);
    }
    return ticket;
}

void LeashLink::leave(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    board_[ticket.slot].child = 0;
    if (watched_.erase(ticket.child) != 0) wake_leash();
    free_slots_.push_back(ticket.slot);
}

void LeashLink::over(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    watched_.erase(ticket.child);
}

void LeashLink::end_by(const Ticket& ticket, std::chrono::nanoseconds moment,
                       std::chrono::milliseconds notice) {
    BoardSlot& slot = board_[ticket.slot];
    const std::int64_t term_at = (moment - notice).count();
    const std::int64_t kill_at = moment.count();
    const bool is_sooner = slot.term_at.exchange(term_at) > term_at;
    if (slot.kill_at.exchange(kill_at) > kill_at || is_sooner) wake_leash();
}

void LeashLink::stop(const Ticket& ticket, std::chrono::nanoseconds kill_at) {
    BoardSlot& slot = board_[ticket.slot];
    if (kill_at.count() >= slot.stop_kill_at) return;
    slot.stop_kill_at = kill_at.count();
    wake_leash();
}

void LeashLink::wake_leash() {
    ::eventfd_write(leash_wake_.get(), 1);
}

bool LeashLink::transmit(const StartOrder& order, const std::string& text,
                         const std::vector<int>& descriptors) {
    StartOrder head = order;
    iovec parts[]{{&head, sizeof head}, {const_cast<char*>(text.data()), text.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * descriptors_max)> control{};
    if (!descriptors.empty()) {
        const std::size_t bytes = descriptors.size() * sizeof(int);
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(bytes);
        std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
    }
    const auto deadline = boot_now() + kernel_takes_within;
    while (!broken_) {
        if (sent_ - board_.taken() < starts_under_way_max) {
            if (::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
                ++sent_;
                return true;
            }
            if (errno == EINTR) continue;
            if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) break;
            // ETOOMANYREFS: more descriptors are under way than one may have open.
            const bool may_pass = errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS;
            if (errno != EAGAIN && !(may_pass && boot_now() < deadline)) {
                const int error = errno;
                sender_waits_ = false;
                fail(error, "cannot hand a command to the leash");
            }
        }
        sender_waits_ = true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

bool LeashLink::send_start(const Ticket& ticket, const Command& command, int report) {
    StartOrder order{.child = ticket.child, .slot = ticket.slot};
    std::string text = command_text(command);
    std::vector<int> descriptors;
    const auto add = [&](int descriptor, DescriptorBit bit) {
        if (descriptor < 0) return;
        descriptors.push_back(descriptor);
        order.descriptors |= bit;
    };
    add(report, report_bit);
    add(command.input, input_bit);
    add(command.output, output_bit);
    add(command.errors, errors_bit);
    add(command.result, result_bit);
    order.text_bytes = static_cast<std::uint32_t>(text.size());
    Descriptor file;
    if (text.size() > inline_text_bytes_max) {
        file = text_in_memory(text);
        add(file.get(), text_bit);
        text.clear();
    }
    {
        const std::lock_guard turn(sending_);
        const bool is_sent = transmit(order, text, descriptors);
        sender_waits_ = false;
        if (!is_sent) {
            broken_ = true;
            return false;
        }
    }
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(ticket.child);
    if (found != watched_.end()) found->second.sent_at = boot_now();
    return true;
}

bool LeashLink::kill_group(const Ticket& ticket) {
    const pid_t group = board_[ticket.slot].pid.exchange(0);
    if (group == 0) return false;
    // After the group was killed, its number may later belong to another group: then it is only
    // looked at.
    const int signal = group > 0 ? SIGKILL : 0;
    // Dead processes may not be reaped, so it is also checked whether any process is alive.
    const auto deadline = boot_now() + group_gone_within;
    while (::kill(-std::abs(group), signal) == 0 && boot_now() < deadline) {
        std::this_thread::sleep_for(2ms);
        if (!has_live_process(std::abs(group))) break;
    }
    return true;
}

void LeashLink::watch() {
    auto busy_until = boot_now() + fall_asleep_after;
    for (bool lives = true; lives;) {
        int timeout = static_cast<int>(look_every.count());
        {
            const std::lock_guard lock(mutex_);
            if (closing_) break;
            const auto now = boot_now();
            if (!watched_.empty()) busy_until = now + fall_asleep_after;
            asleep_ = now >= busy_until;
            if (asleep_) timeout = -1;
        }
        pollfd ready[]{{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
        if (::poll(ready, 2, timeout) < 0) continue;
        if (ready[1].revents != 0) {
            eventfd_t ignored = 0;
            ::eventfd_read(wake_.get(), &ignored);
        }
        if (ready[0].revents != 0) lives = false;  // it never sends anything; it can only be gone
        if (lives) look_after(boot_now());
    }
    finish();
}

bool LeashLink::is_overdue(const Watched& watched, std::chrono::nanoseconds now) const {
    const BoardSlot& slot = board_[watched.slot];
    const std::int64_t end = std::min(slot.kill_at.load(), slot.stop_kill_at.load());
    if ((now - overdue_after).count() > end) return true;
    return slot.pid == 0 && watched.sent_at != 0ns && now > watched.sent_at + start_overdue_after;
}

void LeashLink::look_after(std::chrono::nanoseconds now) {
    const std::lock_guard lock(mutex_);
    bool is_owed = sender_waits_;
    for (const auto& [child, watched] : watched_) {
        if (!is_overdue(watched, now)) continue;
        is_owed = true;
        const pid_t group = board_[watched.slot].pid;
        if (group > 0) ::kill(-group, SIGKILL);
    }
    const std::uint64_t steps = board_.steps();
    const bool is_idle = is_owed && steps == steps_seen_;
    steps_seen_ = steps;
    idle_looks_ = is_idle ? idle_looks_ + 1 : 0;
    if (idle_looks_ >= idle_looks_max) give_up();
    if (is_owed) wake_leash();
}

void LeashLink::give_up() {
    broken_ = true;
    if (process_ > 0) ::kill(process_, SIGKILL);
}

void LeashLink::finish() {
    broken_ = true;
    kill_all();
    reap_process();
    kill_all();  // groups that it may still have started
}

void LeashLink::kill_all() {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t number = 0; number < next_slot_; ++number) {
        std::atomic<std::int32_t>& pid = board_[number].pid;
        std::int32_t group = pid;
        if (group <= 0) continue;
        ::kill(-group, SIGKILL);
        pid.compare_exchange_strong(group, -group);
    }
}

// A leash whose socket was closed kills all its groups and ends.
void LeashLink::reap_process() {
    const auto deadline = boot_now() + process_gone_within;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            siginfo_t seen{};
            const int answer =
                ::waitid(P_PID, static_cast<id_t>(process_), &seen, WEXITED | WNOHANG);
            if (answer != 0 || seen.si_pid != 0) {
                process_ = 0;
                return;
            }
            if (boot_now() > deadline) ::kill(process_, SIGKILL);
        }
        std::this_thread::sleep_for(1ms);
    }
}

}  // namespace sluice::worker
