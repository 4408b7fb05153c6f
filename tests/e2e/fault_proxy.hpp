#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::e2e {

// A network that fails on command, between clients and a server on this machine: it listens on a
// port of its own and forwards bytes until a command. A command has taken effect when the call
// returns, and holds for the connections that exist at that moment unless it says more.
// Thread-safe.
class FaultProxy {
  public:
    explicit FaultProxy(std::uint16_t server_port);
    ~FaultProxy();
    FaultProxy(const FaultProxy&) = delete;
    FaultProxy& operator=(const FaultProxy&) = delete;

    std::uint16_t port() const { return port_; }

    // Until thaw() no byte moves, nor on new connections, and neither side is told.
    void freeze();
    void thaw();

    // The server's answers are thrown away; requests still arrive.
    void swallow_answers();

    // Closes the connections, on both sides.
    void cut();

    // The same, as a reset: bytes under way are lost, and both sides get an error.
    void reset();

    // From now on all bytes, also on new connections, arrive so much later. Zero ends it.
    void delay(std::chrono::milliseconds by);

    // From now on all requests of clients on new connections are sent to the server a second time,
    // so much later and on a connection of its own; the answers to these are dropped.
    void repeat_requests(std::chrono::milliseconds later);
    void repeat_no_more();

    // Closes the clients' sides only: to the server the clients seem to be still there, and bytes
    // that they have sent arrive.
    void abandon();

    // The first client that sends as many as `burst` bytes without an answer is stopped before the
    // end of these: its last `tail` bytes do not arrive.
    struct Hold {
        std::size_t burst = 0;  // 0: no client
        std::size_t tail = 0;
    };
    void hold_back(Hold hold);
    bool holds() const { return holds_; }

    // Releases the bytes that are held back.
    void let_go();

    // From now on new connections are closed at once; with cut(), the server seems gone for good.
    void close_down();

  private:
    using Clock = std::chrono::steady_clock;

    struct Stream {
        int from = -1;
        int to = -1;
        bool is_dropped = false;  // its bytes are thrown away
        bool is_over = false;     // no more bytes come
        std::string pending{};
        Clock::time_point held_until{};  // until then none of its bytes move on
        std::size_t tail = 0;            // so many bytes do not move on
        std::size_t burst = 0;           // bytes since the other side sent any
        bool can_move(Clock::time_point now) const {
            return pending.size() > tail && now >= held_until;
        }
    };
    struct Link {
        int client = -1;
        int server = -1;
        bool has_client = true;
        Stream requests{};
        Stream answers{};
        int echo = -1;  // the connection on which the requests are repeated
        Stream repeated{};
    };

    void run();
    std::vector<pollfd> wishes();
    void let_in();
    void forward(Link& link);
    void take_in(Link& link, Stream& stream);
    void hold_back_end(Stream& requests);
    static void pass_on(Stream& stream);
    static void drain(int socket);
    static bool is_over(const Link& link);
    static void close_all(const Link& link);

    const std::uint16_t server_port_;
    std::uint16_t port_ = 0;
    int listener_ = -1;
    std::atomic<bool> stop_ = false;
    std::atomic<bool> holds_ = false;

    std::mutex mutex_;  // guards all members below
    std::list<Link> links_;
    Hold hold_{};
    bool is_frozen_ = false;
    bool lets_in_ = true;
    bool repeats_ = false;
    std::chrono::milliseconds delay_{0};
    std::chrono::milliseconds repeat_delay_{0};

    std::thread thread_;
};

}  // namespace sluice::e2e
