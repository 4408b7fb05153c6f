#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The offer of a test's client in its handshake.
struct TlsOffer {
    int version_min = TLS1_2_VERSION;
    int version_max = TLS1_3_VERSION;
    std::string ciphers{};    // of TLS 1.2; empty: OpenSSL's own
    std::string protocols{};  // of ALPN, each after its length; empty: none
    int receive_buffer_bytes = 0;
    bool is_corked = false;  // less than a packet waits for uncork(), or for 200 ms
};

// A blocking TLS connection to a port of this machine that sends exactly the given bytes. It
// accepts every certificate. No wait takes over ten seconds.
class TlsClient {
  public:
    explicit TlsClient(std::uint16_t port, const TlsOffer& offer = {});
    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    // Whether the handshake was completed.
    bool is_connected() const { return is_connected_; }
    std::string server_name() const;  // the CN in the server's certificate
    std::string version() const;      // "TLSv1.3"
    std::string protocol() const;     // that ALPN has chosen
    bool has_ticket() const;

    bool send(std::string_view bytes);
    bool send_raw(std::string_view bytes);     // past TLS
    std::string seal(std::string_view bytes);  // as send_raw() takes them, all of them and in order
    void uncork();
    bool start_renegotiation();

    // The next bytes, at least one; empty at the end or when time is up.
    std::string receive_some();
    // All bytes up to the end of the connection.
    std::string receive_all();
    // All bytes until this text has come, and those after it; empty when it does not come.
    std::string receive_until(std::string_view text);
    // The body of the next answer, which has a Content-Length; nothing when none comes.
    std::optional<std::string> receive_answer();

    // Whether the server sent close_notify at the end.
    bool was_told_goodbye() const { return was_told_goodbye_; }

    void say_goodbye();  // sends close_notify; the socket stays open
    void close();        // without close_notify

  private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> session_;
    int socket_ = -1;
    bool is_connected_ = false;
    bool was_told_goodbye_ = false;
    std::string input_;
};

}  // namespace sluice
