#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "domain/values/result.hpp"
#include "infrastructure/jwt/key_set.hpp"

namespace sluice {

// How often the issuer's keys are checked.
struct KeyWatchTimes {
    std::chrono::milliseconds file_check{2'000};    // whether the file has changed
    std::chrono::milliseconds refresh{300'000};     // of keys from a URL
    std::chrono::milliseconds refresh_min{30'000};  // between two downloads, whatever asks for them
    std::chrono::milliseconds fetch_timeout{5'000};
};

// Keeps the issuer's keys up to date, on a thread of its own. Good keys stay until they are
// replaced by others.
class KeyWatch {
  public:
    // Reads a file before it returns, and refuses one that has no keys; keys from a URL come later,
    // since an engine must be able to start without the issuer.
    static Result<std::unique_ptr<KeyWatch>> open(const std::string& source, KeyWatchTimes times);
    ~KeyWatch();
    KeyWatch(const KeyWatch&) = delete;
    KeyWatch& operator=(const KeyWatch&) = delete;

    // The keys as they are now; nullptr until there are some. From any thread; never waits for a
    // file or a network.
    std::shared_ptr<const KeySet> keys() const;

    // A token named an unknown key: the issuer may have a new one.
    void ask_for_more();

    // Reads the file or the URL again, soon.
    void reload();

  private:
    struct FileStamp {
        long long changed_ns = 0;
        long long size = -1;
        unsigned long long inode = 0;
        bool operator==(const FileStamp&) const = default;
    };

    KeyWatch(std::string source, KeyWatchTimes times);

    void watch_file();
    void watch_url();
    Result<ReadKeys> read_file();
    void load_url();
    void take(const Result<ReadKeys>& read);
    bool pause(std::chrono::milliseconds time, bool for_tokens);  // false: this is the end
    static FileStamp stamp_of(const std::string& path);

    const std::string source_;
    const KeyWatchTimes times_;
    FileStamp stamp_;  // of the file at the last read; used by the thread only

    mutable std::mutex mutex_;  // held for moments only, guards the members below
    std::condition_variable woken_;
    std::shared_ptr<const KeySet> keys_;
    bool is_asked_ = false;
    bool reload_ = false;
    std::atomic<bool> stop_ = false;  // atomic since a fetch reads it without the lock
    std::thread thread_;
};

}  // namespace sluice
