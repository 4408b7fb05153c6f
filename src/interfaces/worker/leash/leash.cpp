#include "interfaces/worker/leash/leash.hpp"

#include <signal.h>

#include <cerrno>
#include <mutex>
#include <system_error>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/leash/leash_link.hpp"

namespace sluice::worker {
namespace {

// The start failed for a reason that may pass.
bool may_pass(int error) {
    switch (error) {
        case EAGAIN:
        case ENOMEM:
        case EMFILE:
        case ENFILE:
        case ETXTBSY:
        case EIO:
        case ETIME:
        case EINTR: return true;
        default: return false;
    }
}

std::string why_not_started(const Command& command, StartStep step, int error) {
    if (step == StartStep::in_time) {
        return "cannot start " + command.argv.front() + ": its time was up before it could";
    }
    const std::string reason = std::system_category().message(error);
    if (step == StartStep::enter_directory) {
        return "cannot enter the directory " + command.directory + ": " + reason;
    }
    std::string text = "cannot start " + command.argv.front() + ": " + reason;
    if (step == StartStep::execute && error == ENOENT) {
        text += command.argv.front().find('/') == std::string::npos
                    ? " (it is in no folder of PATH)"
                    : " (the file, or the interpreter that its first line names)";
    }
    if (error == ENOEXEC) text += " (does a script lack its first line, such as #!/bin/sh?)";
    return text;
}

}  // namespace

struct Leash::Child::Shared {
    Shared(std::shared_ptr<LeashLink> its_link, Command its_command)
        : link(std::move(its_link)), command(std::move(its_command)) {}
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() {
        if (ticket.child == 0) return;
        link->leave(ticket);
    }

    void read_end() {
        if (exit) return;
        ExitRecord record;
        const ssize_t count = ::read(report.get(), &record, sizeof record);
        if (count < 0) return;  // nothing yet
        if (count == sizeof record) {
            exit = to_exit(record);
        } else {
            exit = end_without_leash();
        }
        link->over(ticket);
    }

    Exit to_exit(const ExitRecord& record) const {
        if (record.start_error == 0) {
            return {.code = record.code, .signal = record.signal, .by_lease = record.by_lease != 0};
        }
        const auto step = static_cast<StartStep>(record.start_step);
        return {.not_started = why_not_started(command, step, record.start_error),
                .may_start_later = may_pass(record.start_error)};
    }

    // The leash has closed its end without a message, so it is gone, and its commands must end.
    Exit end_without_leash() const {
        if (link->kill_group(ticket)) return {.signal = SIGKILL};
        return {.not_started = "cannot start " + command.argv.front() +
                               ": the leash process ended before it could",
                .may_start_later = true};
    }

    std::shared_ptr<LeashLink> link;
    Command command;  // its descriptors are not used any more
    Descriptor report{};
    LeashLink::Ticket ticket{};
    mutable std::mutex mutex{};
    std::optional<Exit> exit{};
};

Leash::Child::Child(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
Leash::Child::~Child() = default;
Leash::Child::Child(Child&&) noexcept = default;
Leash::Child& Leash::Child::operator=(Child&&) noexcept = default;

void Leash::Child::must_end_by(std::chrono::nanoseconds moment, std::chrono::milliseconds notice) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->exit) return;
    shared_->link->end_by(shared_->ticket, moment, notice);
}

void Leash::Child::stop(std::chrono::milliseconds grace) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->exit) return;
    shared_->link->stop(shared_->ticket, client::boot_now() + grace);
}

int Leash::Child::descriptor() const {
    return shared_->report.get();
}

std::optional<Exit> Leash::Child::ended() const {
    const std::lock_guard lock(shared_->mutex);
    shared_->read_end();
    return shared_->exit;
}

// The link to the leash process that is in use.
class Leash::Link {
  public:
    std::shared_ptr<LeashLink> current() {
        const std::lock_guard lock(mutex_);
        if (link_->is_broken()) link_ = std::make_shared<LeashLink>();
        return link_;
    }

    void close() {
        const std::lock_guard lock(mutex_);
        link_->close();
    }

  private:
    std::mutex mutex_;
    std::shared_ptr<LeashLink> link_ = std::make_shared<LeashLink>();
};

Leash::Leash() : link_(std::make_shared<Link>()) {}

Leash::~Leash() {
    link_->close();
}

Leash::Child Leash::start(const Command& command, std::chrono::nanoseconds must_end_by,
                          std::chrono::milliseconds notice) {
    // The second leash is for when the first turns out to be gone.
    for (bool is_last = false;; is_last = true) {
        const auto link = link_->current();
        Pipe report = make_pipe();
        auto shared = std::make_shared<Child::Shared>(link, command);
        shared->report = std::move(report.reader);
        shared->ticket = link->enter(must_end_by, notice);
        const bool is_sent = link->send_start(shared->ticket, command, report.writer.get());
        if (is_sent || is_last) return Child(std::move(shared));
    }
}

}  // namespace sluice::worker
