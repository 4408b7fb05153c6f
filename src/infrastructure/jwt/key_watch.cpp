#include "infrastructure/jwt/key_watch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "infrastructure/jwt/jwks_fetch.hpp"
#include "infrastructure/jwt/jwks_source.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice {
namespace {

std::string log_fields(std::string_view source, std::string_view why) {
    return log::field("jwks", source) + ',' + log::field("why", why);
}

// Reads at most one byte more than is allowed, which is enough to see that the file is too large.
std::optional<std::string> contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(jwks_bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad()) return std::nullopt;
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

}  // namespace

Result<std::unique_ptr<KeyWatch>> KeyWatch::open(const std::string& source, KeyWatchTimes times) {
    if (const auto problem = problem_with_jwks_source(source)) {
        return Error{ErrorCode::invalid, fmt::format("{}: {}", source, *problem), ""};
    }
    std::unique_ptr<KeyWatch> watch(new KeyWatch(source, times));
    const bool is_url = is_jwks_url(source);
    if (!is_url) {
        const auto read = watch->read_file();
        if (!read) {
            return Error{read.error().code, fmt::format("{}: {}", source, read.error().message),
                         ""};
        }
        watch->take(read);
    }
    KeyWatch& kept = *watch;
    watch->thread_ =
        std::thread([&kept, is_url] { is_url ? kept.watch_url() : kept.watch_file(); });
    return watch;
}

KeyWatch::KeyWatch(std::string source, KeyWatchTimes times)
    : source_(std::move(source)), times_(times) {}

KeyWatch::~KeyWatch() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    woken_.notify_all();
    if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const KeySet> KeyWatch::keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
}

void KeyWatch::ask_for_more() {
    {
        const std::lock_guard lock(mutex_);
        if (is_asked_) return;
        is_asked_ = true;
    }
    woken_.notify_all();
}

void KeyWatch::reload() {
    {
        const std::lock_guard lock(mutex_);
        reload_ = true;
    }
    woken_.notify_all();
}

bool KeyWatch::pause(std::chrono::milliseconds time, bool for_tokens) {
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, time, [&] { return stop_ || reload_ || (for_tokens && is_asked_); });
    return !stop_;
}

void KeyWatch::watch_file() {
    while (pause(times_.file_check, false)) {
        bool is_wanted = false;
        {
            const std::lock_guard lock(mutex_);
            is_wanted = std::exchange(reload_, false);
        }
        if (is_wanted || stamp_of(source_) != stamp_) take(read_file());
    }
}

void KeyWatch::watch_url() {
    do {
        load_url();
        // Tokens with made-up keys must not cause a request to the issuer each time.
    } while (pause(times_.refresh_min, false) && pause(times_.refresh - times_.refresh_min, true));
}

// Keys that are being loaded also serve the tokens that ask for keys meanwhile. For a reload they
// do not: they may be older than the keys that its caller wants.
void KeyWatch::load_url() {
    {
        const std::lock_guard lock(mutex_);
        reload_ = false;
    }
    const auto body = fetch_jwks(source_, times_.fetch_timeout, stop_);
    if (stop_) return;
    take(body ? read_jwks(*body) : Result<ReadKeys>(body.error()));
    const std::lock_guard lock(mutex_);
    is_asked_ = false;
}

Result<ReadKeys> KeyWatch::read_file() {
    stamp_ = stamp_of(source_);  // before the read: a write during it is then noticed
    errno = 0;
    const auto text = contents_of(source_);
    if (!text) {
        return Error{ErrorCode::unavailable,
                     fmt::format("the file of auth.jwt.jwks cannot be read: {}",
                                 std::strerror(errno == 0 ? EIO : errno)),
                     ""};
    }
    if (text->size() > jwks_bytes_max) {
        return Error{ErrorCode::too_large, fmt::format("is larger than {} bytes", jwks_bytes_max),
                     ""};
    }
    return read_jwks(*text);
}

void KeyWatch::take(const Result<ReadKeys>& read) {
    if (!read) {
        const bool has_keys = keys() != nullptr;
        return log::warn(has_keys ? "the keys for tokens stay as they were: new ones cannot be read"
                                  : "there are no keys for tokens yet, so that none is believed",
                         log_fields(source_, read.error().message));
    }
    for (const std::string& remark : read->remarks) {
        log::warn("a key for tokens is not as it should be", log_fields(source_, remark));
    }
    const std::lock_guard lock(mutex_);
    keys_ = read->keys;
}

KeyWatch::FileStamp KeyWatch::stamp_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    return {.changed_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec,
            .size = status.st_size,
            .inode = status.st_ino};
}

}  // namespace sluice
