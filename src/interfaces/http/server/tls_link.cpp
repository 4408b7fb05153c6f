#include "interfaces/http/server/tls_link.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

namespace sluice::http {
namespace {

// OpenSSL's own socket BIO writes in a way that raises SIGPIPE when the peer is gone. This one does
// not. A BIO's data is the link's Wire.

TlsLink::Wire& wire_of(BIO* bio) {
    return *static_cast<TlsLink::Wire*>(BIO_get_data(bio));
}

bool is_to_be_repeated() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int write_to_socket(BIO* bio, const char* bytes, int count) {
    BIO_clear_retry_flags(bio);
    const auto sent = ::send(wire_of(bio).socket, bytes, static_cast<std::size_t>(count),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && is_to_be_repeated()) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
}

int read_from_socket(BIO* bio, char* target, int count) {
    BIO_clear_retry_flags(bio);
    TlsLink::Wire& wire = wire_of(bio);
    if (wire.turn_bytes_left == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    const auto read_bytes = std::min(static_cast<std::size_t>(count), wire.turn_bytes_left);
    const auto received = ::recv(wire.socket, target, read_bytes, MSG_DONTWAIT);
    if (received < 0 && is_to_be_repeated()) BIO_set_retry_read(bio);
    if (received > 0) {
        wire.received_bytes += static_cast<std::size_t>(received);
        wire.turn_bytes_left -= static_cast<std::size_t>(received);
    }
    return static_cast<int>(received);
}

long control(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* socket_method() {
    static BIO_METHOD* const method = [] {
        BIO_METHOD* made =
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
        if (made == nullptr) throw std::bad_alloc();
        BIO_meth_set_write(made, write_to_socket);
        BIO_meth_set_read(made, read_from_socket);
        BIO_meth_set_ctrl(made, control);
        return made;
    }();
    return method;
}

int int_size(std::size_t size) {
    return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

void TlsLink::Free::operator()(ssl_st* session) const {
    SSL_free(session);
}

TlsLink::TlsLink(const TlsIdentity& identity, int socket)
    : wire_{.socket = socket}, session_(SSL_new(identity.context())) {
    BIO* bio = session_ ? BIO_new(socket_method()) : nullptr;
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(session_.get(), bio, bio);
    SSL_set_accept_state(session_.get());
}

bool TlsLink::is_ready() const {
    return SSL_is_init_finished(session_.get()) != 0;
}

TlsLink::Step TlsLink::step_after(int result) {
    if (result > 0) return Step::done;
    const int error = SSL_get_error(session_.get(), result);
    if (error == SSL_ERROR_WANT_READ) return Step::wait_to_read;
    if (error == SSL_ERROR_WANT_WRITE) return Step::wait_to_write;
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST) met_plain_http_ = true;
    ERR_clear_error();
    is_over_ = true;
    return Step::over;
}

TlsLink::Outcome TlsLink::read(std::span<char> space) {
    if (is_over_) return {.step = Step::over};
    ERR_clear_error();
    if (has_waited_) start_turn();
    const int count = SSL_read(session_.get(), space.data(), int_size(space.size()));
    const Step step = step_after(count);
    has_waited_ = step != Step::done;  // the caller will, before it reads again
    return {.step = step, .bytes = step == Step::done ? static_cast<std::size_t>(count) : 0};
}

// Each record takes at most 16 KiB, so it goes on until the socket is full.
TlsLink::Outcome TlsLink::write(std::string_view plain) {
    if (is_over_ || !is_ready()) return {.step = Step::over};
    Outcome outcome;
    while (outcome.bytes < plain.size()) {
        const std::string_view rest = plain.substr(outcome.bytes);
        ERR_clear_error();
        const int count = SSL_write(session_.get(), rest.data(), int_size(rest.size()));
        outcome.step = step_after(count);
        if (outcome.step != Step::done) break;
        outcome.bytes += static_cast<std::size_t>(count);
    }
    return outcome;
}

TlsLink::Step TlsLink::peek() {
    if (is_over_) return Step::over;
    ERR_clear_error();
    start_turn();
    char byte = 0;
    return step_after(SSL_peek(session_.get(), &byte, 1));
}

bool TlsLink::has_unread() const {
    return SSL_has_pending(session_.get()) != 0;
}

void TlsLink::say_goodbye() {
    if (is_over_ || !is_ready()) return;
    ERR_clear_error();
    SSL_shutdown(session_.get());
    ERR_clear_error();
}

}  // namespace sluice::http
