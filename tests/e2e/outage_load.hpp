#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "e2e/api.hpp"
#include "e2e/postgres_server.hpp"

namespace sluice::e2e {

// Clients that keep an engine busy during outages of its database. Every answer must come within
// ten seconds, and be a success or a 503 with a Retry-After.
class OutageLoad {
  public:
    struct Clients {
        int with_keys = 0;     // submit, each repeated until it is acknowledged
        int without_keys = 0;  // submit, each once
        int workers = 0;       // claim, and report until it is acknowledged
    };

    OutageLoad(std::uint16_t port, Clients clients);
    ~OutageLoad() { stop(); }
    OutageLoad(const OutageLoad&) = delete;
    OutageLoad& operator=(const OutageLoad&) = delete;

    int answers() const { return accepted_ + refused_; }
    int refused() const { return refused_; }
    int accepted() const { return accepted_; }

    // Ends the clients, with no request left unacknowledged.
    void stop();

    // After stop(): all acknowledged jobs are in the database, once each.
    void expect_all_kept(const PostgresServer& server) const;

  private:
    void submit_with_keys(const std::string& name);
    void submit_without_keys();
    void work();
    Response call(Client& http, const std::string& path, const std::string& body,
                  const Headers& headers = {});
    void insist(Client& http, const std::string& path, const std::string& body,
                const Headers& headers = {});

    const std::uint16_t port_;
    std::atomic<bool> stop_ = false;
    std::atomic<int> accepted_ = 0;
    std::atomic<int> refused_ = 0;
    std::atomic<int> keys_ = 0;       // each acknowledged
    std::atomic<int> sent_once_ = 0;  // and acknowledged
    std::atomic<int> unknown_ = 0;    // sent once, and refused
    std::atomic<int> reported_ = 0;   // and acknowledged
    std::mutex mutex_;
    Millis slowest_{0};
    std::vector<std::thread> threads_;
};

}  // namespace sluice::e2e
