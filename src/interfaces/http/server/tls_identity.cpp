#include "interfaces/http/server/tls_identity.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <stdexcept>

// Sessions are not resumed: OpenSSL does not change the key of its tickets by itself, and a holder
// of one can read all traffic under it. Clients keep their connections, so that the whole handshake
// is seldom made.

namespace sluice::http {
namespace {

using Time = std::chrono::system_clock::time_point;

constexpr std::chrono::hours soon{24 * 14};

// Suites of TLS 1.2 that keep past traffic secret when the key is lost later. Those of 1.3 all do.
constexpr const char* cipher_list = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* key_exchanges = "X25519:P-256:P-384";

// OpenSSL's message about its last failure, which OpenSSL then forgets.
std::string last_error() {
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "unknown error" : reason;
}

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error("tls: " + what);
}

void check_readable(const char* name, const std::string& path) {
    if (path.empty()) {
        fail(std::string(name) + " is not given; certificate and key are needed both");
    }
    errno = 0;
    std::ifstream file(path);
    if (file.is_open() && file.peek() != std::ifstream::traits_type::eof()) return;
    const char* reason = errno != 0 ? std::strerror(errno) : "it is empty";
    fail(std::string(name) + " " + path + " cannot be read: " + reason);
}

Time time_of(const ASN1_TIME* text) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(text, &parts) != 1) return {};
    return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::string day_of(Time time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
    return text;
}

// Chooses the only protocol that is spoken here. A peer that offers only others is refused at once.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned int offered_bytes, void*) {
    static constexpr unsigned char spoken[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, chosen_bytes, spoken, sizeof(spoken), offered,
                              offered_bytes) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

void set_rules(SSL_CTX* context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    // Idle connections keep no buffers; the rest of an answer may move before it is tried again.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    if (SSL_CTX_set_cipher_list(context, cipher_list) != 1 ||
        SSL_CTX_set1_groups_list(context, key_exchanges) != 1) {
        fail("this OpenSSL does not know the ciphers that are needed: " + last_error());
    }
}

// A key behind a pass phrase would have the engine wait for somebody to type it.
int refuse_pass_phrase(char*, int, int, void*) {
    return -1;
}

}  // namespace

TlsIdentity::TlsIdentity(const TlsFiles& files) : certificate_file_(files.certificate) {
    check_readable("certificate", files.certificate);
    check_readable("key", files.key);
    ERR_clear_error();
    context_.reset(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    if (!context_) fail("OpenSSL does not start: " + last_error());
    set_rules(context_.get());

    SSL_CTX_set_default_passwd_cb(context_.get(), refuse_pass_phrase);
    if (SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) != 1) {
        fail("certificate " + files.certificate + " is not usable as PEM: " + last_error());
    }
    if (SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
        const std::string reason = last_error();
        if (reason == "key values mismatch") {
            fail("key " + files.key + " does not belong to certificate " + files.certificate);
        }
        fail("key " + files.key + " is not usable as PEM without a pass phrase: " + reason);
    }
    if (SSL_CTX_check_private_key(context_.get()) != 1) {
        ERR_clear_error();
        fail("key " + files.key + " does not belong to certificate " + files.certificate);
    }
    const X509* certificate = SSL_CTX_get0_certificate(context_.get());
    valid_from_ = time_of(X509_get0_notBefore(certificate));
    valid_until_ = time_of(X509_get0_notAfter(certificate));
}

std::optional<std::string> TlsIdentity::complaint(Time now) const {
    const std::string name = "certificate " + certificate_file_;
    if (now > valid_until_) return name + " has expired at " + day_of(valid_until_);
    if (now < valid_from_) return name + " is not valid before " + day_of(valid_from_);
    if (now + soon > valid_until_) return name + " expires soon, at " + day_of(valid_until_);
    return std::nullopt;
}

}  // namespace sluice::http
