// Loaded into an engine (LD_PRELOAD): counts the calls that write to the store's files, of all
// threads together, and acts at one of them.
//
//   SLUICE_CHAOS_FOLDER   only files under this folder count
//   SLUICE_CHAOS_COUNTS   a file for one 64-bit counter per call, in the order of `calls`
//   SLUICE_CHAOS_PLAN     CALL:N:ACTION, at the Nth call; CALL:N+:ACTION, from then on. Actions:
//                         kill, kill_after, torn (half of the bytes, then kill), skip (say that it
//                         was done), short (half of the bytes), EIO, ENOSPC, EINTR
//
// It is no part of the engine, so that the engine needs no hook for this.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

enum class Action { go_on, kill, kill_after, torn, skip, shorten, fail };

struct Plan {
    std::size_t call = 0;
    std::uint64_t first = 0;  // 0: never
    bool goes_on = false;
    Action action = Action::go_on;
    int error = 0;
};

enum Call : std::size_t { on_open, on_pwrite, on_write, on_sync, on_truncate, on_unlink };
constexpr std::array<std::string_view, 6> calls{"open",      "pwrite64",  "write",
                                                "fdatasync", "ftruncate", "unlink"};

constexpr std::size_t descriptors_max = 4096;
std::array<std::atomic<bool>, descriptors_max> is_of_store;

using Counters = std::array<std::atomic<std::uint64_t>, calls.size()>;
Counters own_counters;
Counters* counters = &own_counters;
std::string_view folder;
Plan plan;

void read_action(std::string_view name) {
    struct Named {
        std::string_view name;
        Action action;
        int error;
    };
    constexpr std::array<Named, 8> actions{{{"kill", Action::kill, 0},
                                            {"kill_after", Action::kill_after, 0},
                                            {"torn", Action::torn, 0},
                                            {"skip", Action::skip, 0},
                                            {"short", Action::shorten, 0},
                                            {"EIO", Action::fail, EIO},
                                            {"ENOSPC", Action::fail, ENOSPC},
                                            {"EINTR", Action::fail, EINTR}}};
    for (const Named& known : actions) {
        if (known.name != name) continue;
        plan.action = known.action;
        plan.error = known.error;
        return;
    }
    std::fprintf(stderr, "shim: no such action\n");
    std::abort();
}

void read_plan(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::size_t second = text.rfind(':');
    while (plan.call < calls.size() && calls[plan.call] != text.substr(0, colon)) ++plan.call;
    if (plan.call == calls.size() || second <= colon) {
        std::fprintf(stderr, "shim: bad plan\n");
        std::abort();
    }
    plan.first = std::strtoull(text.data() + colon + 1, nullptr, 10);
    plan.goes_on = text[second - 1] == '+';
    read_action(text.substr(second + 1));
}

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void share_counters(const char* path) {
    using Open = int(const char*, int, ...);
    const int file = real<Open>("open64")(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(Counters)) != 0) return;
    void* shared = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) counters = static_cast<Counters*>(shared);
}

// Copies, since the engine overwrites its environment.
__attribute__((constructor)) void begin() {
    if (const char* where = std::getenv("SLUICE_CHAOS_FOLDER")) folder = strdup(where);
    if (const char* what = std::getenv("SLUICE_CHAOS_PLAN")) read_plan(strdup(what));
    if (const char* path = std::getenv("SLUICE_CHAOS_COUNTS")) share_counters(path);
}

[[noreturn]] void die() {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

bool is_ours(const char* path) {
    return !folder.empty() && std::strncmp(path, folder.data(), folder.size()) == 0;
}

bool is_ours(int descriptor) {
    const auto place = static_cast<std::size_t>(descriptor);
    return descriptor >= 0 && place < descriptors_max && is_of_store[place];
}

void mark(int descriptor, bool ours) {
    const auto place = static_cast<std::size_t>(descriptor);
    if (descriptor >= 0 && place < descriptors_max) is_of_store[place] = ours;
}

// Counts the call and returns the action that replaces it or goes with it.
Action next(Call call) {
    const std::uint64_t number = ++(*counters)[call];
    if (plan.first == 0 || plan.call != call) return Action::go_on;
    if (number != plan.first && !(plan.goes_on && number > plan.first)) return Action::go_on;
    if (plan.action == Action::kill) die();
    return plan.action;
}

// A call that cannot be done by half.
template <class Work>
int whole_call(Call call, Work work) {
    const Action action = next(call);
    if (action == Action::skip) return 0;
    if (action == Action::fail) {
        errno = plan.error;
        return -1;
    }
    const int result = work();
    if (action == Action::kill_after) die();
    return result;
}

// A call that writes up to `size` bytes.
template <class Work>
ssize_t writing_call(Call call, std::size_t size, Work work) {
    const Action action = next(call);
    if (action == Action::fail) {
        errno = plan.error;
        return -1;
    }
    const bool halves = action == Action::torn || action == Action::shorten;
    const ssize_t result = work(halves && size > 1 ? size / 2 : size);
    if (action == Action::torn || action == Action::kill_after) die();
    return result;
}

int open_one(const char* name, const char* path, int flags, mode_t mode) {
    using Open = int(const char*, int, ...);
    const auto work = [&] {
        const int descriptor = real<Open>(name)(path, flags, mode);
        mark(descriptor, is_ours(path));
        return descriptor;
    };
    const bool counts = is_ours(path) && (flags & O_CREAT) != 0;
    return counts ? whole_call(on_open, work) : work();
}

}  // namespace

extern "C" {

// Under other names, since their own take "...", and only the third argument is ever given.
int shim_open(const char* path, int flags, mode_t mode) asm("open");
int shim_open64(const char* path, int flags, mode_t mode) asm("open64");

int shim_open(const char* path, int flags, mode_t mode) {
    return open_one("open", path, flags, mode);
}

int shim_open64(const char* path, int flags, mode_t mode) {
    return open_one("open64", path, flags, mode);
}

int close(int descriptor) {
    mark(descriptor, false);
    return real<int(int)>("close")(descriptor);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
    const auto work = [&](std::size_t count) {
        using Write = ssize_t(int, const void*, size_t, off64_t);
        return real<Write>("pwrite64")(descriptor, bytes, count, at);
    };
    return is_ours(descriptor) ? writing_call(on_pwrite, size, work) : work(size);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
    const auto work = [&](std::size_t count) {
        return real<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, count);
    };
    return is_ours(descriptor) ? writing_call(on_write, size, work) : work(size);
}

int fdatasync(int descriptor) {
    const auto work = [&] { return real<int(int)>("fdatasync")(descriptor); };
    return is_ours(descriptor) ? whole_call(on_sync, work) : work();
}

int fsync(int descriptor) {
    const auto work = [&] { return real<int(int)>("fsync")(descriptor); };
    return is_ours(descriptor) ? whole_call(on_sync, work) : work();
}

int ftruncate64(int descriptor, off64_t size) noexcept {
    const auto work = [&] { return real<int(int, off64_t)>("ftruncate64")(descriptor, size); };
    return is_ours(descriptor) ? whole_call(on_truncate, work) : work();
}

int unlink(const char* path) noexcept {
    const auto work = [&] { return real<int(const char*)>("unlink")(path); };
    return is_ours(path) ? whole_call(on_unlink, work) : work();
}

}  // extern "C"
