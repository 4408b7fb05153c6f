#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "interfaces/http/server/tls_identity.hpp"

struct ssl_st;

namespace sluice::http {

// TLS on a non-blocking socket, from the server's side. It speaks to the socket itself, and tells
// its caller what to wait for when the socket has nothing, or takes nothing more. It must not be
// used any more once its socket is closed, since the number of that may belong to another one then.
//
// A peer may send faster than it is read. So that other connections have a turn, no more than
// turn_bytes are taken from the socket before read() says to wait for it, even though there is
// more.
class TlsLink {
  public:
    // The outcome of a call, beside its bytes.
    enum class Step {
        done,
        wait_to_read,   // call again once the socket can be read
        wait_to_write,  // call again once the socket can be written
        over            // the peer has closed TLS, is gone, or does not speak TLS
    };
    struct Outcome {
        Step step = Step::done;
        std::size_t bytes = 0;
    };

    TlsLink(const TlsIdentity& identity, int socket);
    TlsLink(const TlsLink&) = delete;
    TlsLink& operator=(const TlsLink&) = delete;

    // Whether the handshake is over. The first reads make it; nothing can be written before.
    bool is_ready() const;

    // Takes plain bytes, at least one when done.
    Outcome read(std::span<char> space);

    // Writes as much of `plain` as the socket takes. After a wait, the same bytes must come first
    // again.
    Outcome write(std::string_view plain);

    // Whether there is something to read: done, and it stays where it is.
    Step peek();

    // Whether bytes of the peer wait in here. The socket does not tell of these any more.
    bool has_unread() const;

    // All that came from the socket by now, sealed as it was.
    std::size_t received_bytes() const { return wire_.received_bytes; }

    // Whether the peer has sent an HTTP request where its handshake should be.
    bool met_plain_http() const { return met_plain_http_; }

    // Tells the peer that nothing follows.
    void say_goodbye();

    // The socket side of the session.
    struct Wire {
        int socket = -1;
        std::size_t received_bytes = 0;
        std::size_t turn_bytes_left = 0;
    };

  private:
    static constexpr std::size_t turn_bytes = 64 * 1024;

    Step step_after(int result);
    void start_turn() { wire_.turn_bytes_left = turn_bytes; }

    struct Free {
        void operator()(ssl_st* session) const;
    };
    Wire wire_;  // the session points at it
    std::unique_ptr<ssl_st, Free> session_;
    bool has_waited_ = true;  // for the socket, since the last read
    bool is_over_ = false;
    bool met_plain_http_ = false;
};

}  // namespace sluice::http
