#include "support/tls_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <utility>

namespace sluice {
namespace {

int connect_to(std::uint16_t port, int receive_buffer_bytes) {
    // OpenSSL writes to sockets in a way that raises this when the peer is gone.
    ::signal(SIGPIPE, SIG_IGN);
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer_bytes > 0) {
        ::setsockopt(made, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(int));
    }
    const timeval patience{10, 0};
    ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    const int on = 1;
    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    return made;
}

std::string lower_case(std::string text) {
    for (char& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return text;
}

}  // namespace

TlsClient::TlsClient(std::uint16_t port, const TlsOffer& offer)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
      session_(nullptr, SSL_free),
      socket_(connect_to(port, offer.receive_buffer_bytes)) {
    // Old versions need weak signatures, which OpenSSL offers at the lowest level only.
    if (offer.version_min < TLS1_2_VERSION) SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), offer.version_min);
    SSL_CTX_set_max_proto_version(context_.get(), offer.version_max);
    if (!offer.ciphers.empty()) SSL_CTX_set_cipher_list(context_.get(), offer.ciphers.c_str());
    if (!offer.protocols.empty()) {
        SSL_CTX_set_alpn_protos(context_.get(),
                                reinterpret_cast<const unsigned char*>(offer.protocols.data()),
                                static_cast<unsigned>(offer.protocols.size()));
    }
    const int corked = offer.is_corked ? 1 : 0;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_CORK, &corked, sizeof(corked));
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket_);
    is_connected_ = SSL_connect(session_.get()) == 1;
    ERR_clear_error();
}

TlsClient::~TlsClient() {
    close();
}

void TlsClient::close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

std::string TlsClient::server_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        SSL_get1_peer_certificate(session_.get()), X509_free);
    if (!certificate) return {};
    char name[256] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                              sizeof(name));
    return name;
}

std::string TlsClient::version() const {
    return SSL_get_version(session_.get());
}

std::string TlsClient::protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session_.get(), &name, &size);
    return std::string(reinterpret_cast<const char*>(name), size);
}

bool TlsClient::has_ticket() const {
    return SSL_SESSION_has_ticket(SSL_get0_session(session_.get())) == 1;
}

bool TlsClient::send(std::string_view bytes) {
    ERR_clear_error();
    return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
}

bool TlsClient::send_raw(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

std::string TlsClient::seal(std::string_view bytes) {
    BIO* const usual = SSL_get_wbio(session_.get());
    BIO_up_ref(usual);
    SSL_set0_wbio(session_.get(), BIO_new(BIO_s_mem()));
    SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
    char* sealed = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(session_.get()), &sealed);
    std::string all(sealed, static_cast<std::size_t>(size));
    SSL_set0_wbio(session_.get(), usual);
    return all;
}

void TlsClient::uncork() {
    const int corked = 0;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_CORK, &corked, sizeof(corked));
}

bool TlsClient::start_renegotiation() {
    ERR_clear_error();
    return SSL_renegotiate(session_.get()) == 1 && SSL_do_handshake(session_.get()) == 1;
}

std::string TlsClient::receive_some() {
    if (!input_.empty()) return std::exchange(input_, {});
    std::string bytes(16384, '\0');
    ERR_clear_error();
    const int count = SSL_read(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (count <= 0) {
        was_told_goodbye_ = SSL_get_error(session_.get(), count) == SSL_ERROR_ZERO_RETURN;
    }
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
}

std::string TlsClient::receive_all() {
    std::string all;
    for (;;) {
        const std::string more = receive_some();
        if (more.empty()) return all;
        all += more;
    }
}

std::string TlsClient::receive_until(std::string_view text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
        const std::string more = receive_some();
        if (more.empty()) return {};
        all += more;
    }
    return all;
}

std::optional<std::string> TlsClient::receive_answer() {
    const std::string begin = receive_until("\r\n\r\n");
    if (begin.empty()) return std::nullopt;
    const std::size_t head = begin.find("\r\n\r\n") + 4;
    const std::size_t field = lower_case(begin.substr(0, head)).find("content-length: ");
    const std::size_t size = field < head ? std::stoul(begin.substr(field + 16)) : 0;
    std::string body = begin.substr(head);
    while (body.size() < size) {
        const std::string more = receive_some();
        if (more.empty()) return std::nullopt;
        body += more;
    }
    input_ = body.substr(size);
    body.resize(size);
    return body;
}

void TlsClient::say_goodbye() {
    SSL_shutdown(session_.get());
}

}  // namespace sluice
