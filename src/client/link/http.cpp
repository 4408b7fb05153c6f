// One exchange at a time on a libcurl multi handle: the multi interface, since its poll can be
// woken by another thread, which the blocking one cannot.
#include "client/link/http.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>

#include "client/link/endpoint.hpp"
#include "client/link/public_address.hpp"
#include "domain/values/ascii.hpp"

namespace sluice::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Millis poll_period{200};
constexpr Millis last_bytes_patience{1'000};  // for an answer that had begun at an interrupt

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

[[noreturn]] void fail(ErrorKind kind, const char* code, std::string message) {
    throw Error(kind, 0, code, std::move(message));
}

class HeaderList {
  public:
    HeaderList() = default;
    ~HeaderList() { curl_slist_free_all(list_); }
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;

    void add(const std::string& line) {
        curl_slist* longer = curl_slist_append(list_, line.c_str());
        if (longer == nullptr) throw std::bad_alloc();
        list_ = longer;
    }
    curl_slist* get() const { return list_; }

  private:
    curl_slist* list_ = nullptr;
};

// A line end in a header's value would add other headers.
void check_header(const std::string& name, const std::string& value) {
    const auto is_bad = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
    const auto has_bad = [&](const std::string& s) {
        return std::any_of(s.begin(), s.end(), is_bad);
    };
    if (name.empty() || name.find(':') != std::string::npos || has_bad(name) || has_bad(value)) {
        fail(ErrorKind::usage, "bad_header",
             fmt::format("the header \"{}\" has a line break or another character that headers "
                         "cannot have",
                         name));
    }
}

// The part of an exchange that libcurl's callbacks use. They are called from C: nothing may be
// thrown.
struct Exchange {
    const HttpRequest& request;
    HttpResponse response{};
    Clock::time_point last_bytes = Clock::now();
    bool has_begun = false;  // bytes of the answer have come
    bool was_ended = false;  // by on_body
    bool is_too_large = false;
    std::string refused_address{};  // the last one
    std::exception_ptr thrown{};

    void take_header(std::string_view line) {
        last_bytes = Clock::now();
        has_begun = true;
        if (line.starts_with("HTTP/")) {  // of a redirect's target, or after 100
            response = {};
            const std::size_t space = line.find(' ');
            if (space != std::string_view::npos) {
                for (const char c : line.substr(space + 1, 3)) {
                    if (c >= '0' && c <= '9') response.status = response.status * 10 + (c - '0');
                }
            }
            return;
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) return;
        response.headers.emplace_back(trimmed(line.substr(0, colon)),
                                      trimmed(line.substr(colon + 1)));
    }

    bool take_body(std::string_view bytes) {
        last_bytes = Clock::now();
        if (request.on_body && response.status / 100 == 2) {
            was_ended = !request.on_body(bytes);
            return !was_ended;
        }
        const bool fits =
            request.body_max == 0 || response.body.size() + bytes.size() <= request.body_max;
        if (!fits && request.cut_body)
            bytes = bytes.substr(0, request.body_max - response.body.size());
        if (fits || request.cut_body) response.body += bytes;
        (request.cut_body ? was_ended : is_too_large) = !fits;
        return fits;
    }
};

template <class Take>
std::size_t guarded(Exchange& exchange, std::size_t size, Take take) {
    try {
        return take() ? size : size + 1;  // any other number ends the transfer
    } catch (...) {
        exchange.thrown = std::current_exception();
        return size + 1;
    }
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
    auto& exchange = *static_cast<Exchange*>(user);
    return guarded(exchange, size, [&] {
        exchange.take_header({data, size});
        return true;
    });
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
    auto& exchange = *static_cast<Exchange*>(user);
    return guarded(exchange, size, [&] { return exchange.take_body({data, size}); });
}

// Called with the address of each connection just before it is made, so that neither a name that
// resolves differently the second time nor a redirect gets around it.
curl_socket_t open_public_socket(void* user, curlsocktype, curl_sockaddr* address) {
    auto& exchange = *static_cast<Exchange*>(user);
    try {
        const std::string text = address_text(address->addr);
        const auto& allowed = exchange.request.allowed_addresses;
        if (!is_public_address(address->addr) &&
            std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
            exchange.refused_address = text;
            return CURL_SOCKET_BAD;
        }
    } catch (...) {
        exchange.thrown = std::current_exception();
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void set_method(CURL* easy, const HttpRequest& request) {
    if (request.method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (request.method == "GET" && request.body.empty()) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    } else {
        const bool has_body = !request.body.empty() || request.method == "POST";
        if (has_body) {
            curl_easy_setopt(easy, CURLOPT_POST, 1L);
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                             static_cast<curl_off_t>(request.body.size()));
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
        }
        if (request.method != "POST")
            curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
}

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (equals_ignoring_case(key, name)) return value;
    }
    return {};
}

class HttpConnection::Handle {
  public:
    Handle() {
        static std::once_flag initialised;
        std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
        multi_ = curl_multi_init();
        easy_ = curl_easy_init();
        if (multi_ == nullptr || easy_ == nullptr) {
            release();
            throw std::bad_alloc();
        }
    }
    ~Handle() { release(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    HttpResponse send(const HttpRequest& request) {
        const Endpoint endpoint = parse_endpoint(request.url);
        if (request.public_addresses_only && connected_anywhere_) {
            fail(ErrorKind::usage, http_error::private_address,
                 "this connection was used for any address before and cannot be limited now");
        }
        connected_anywhere_ |= !request.public_addresses_only;
        Exchange exchange{request};
        HeaderList headers;
        for (const auto& [name, value] : request.headers) {
            check_header(name, value);
            headers.add(value.empty() ? name + ";" : name + ": " + value);
        }
        headers.add("Expect:");  // an unnecessary round trip
        prepare(exchange, endpoint, headers);
        curl_multi_add_handle(multi_, easy_);
        struct Remove {
            Handle& handle;
            ~Remove() { curl_multi_remove_handle(handle.multi_, handle.easy_); }
        } const remove{*this};
        const CURLcode code = transfer(exchange, endpoint);
        if (exchange.thrown) std::rethrow_exception(exchange.thrown);
        if (code != CURLE_OK && !exchange.was_ended) explain(code, exchange, endpoint);
        const char* redirect_url = nullptr;
        curl_easy_getinfo(easy_, CURLINFO_REDIRECT_URL, &redirect_url);
        if (redirect_url != nullptr) exchange.response.redirect_url = redirect_url;
        return std::move(exchange.response);
    }

    void interrupt() {
        interrupted_ = true;
        curl_multi_wakeup(multi_);
    }

  private:
    void release() {
        curl_easy_cleanup(easy_);
        curl_multi_cleanup(multi_);
    }

    void prepare(Exchange& exchange, const Endpoint& endpoint, const HeaderList& headers) {
        const HttpRequest& request = exchange.request;
        curl_easy_reset(easy_);
        error_text_[0] = '\0';
        curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_);
        curl_easy_setopt(easy_, CURLOPT_URL, request.url.c_str());
        curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy_, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
        curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // do not wait for a slow name server
        curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers.get());
        curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                         static_cast<long>(request.connect_timeout.count()));
        curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
        curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, on_header);
        curl_easy_setopt(easy_, CURLOPT_HEADERDATA, &exchange);
        curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, on_body);
        curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &exchange);
        set_method(easy_, request);
        if (request.redirects_max > 0) {
            curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 1L);
            curl_easy_setopt(easy_, CURLOPT_MAXREDIRS, static_cast<long>(request.redirects_max));
        }
        if (!request.ca_file.empty())
            curl_easy_setopt(easy_, CURLOPT_CAINFO, request.ca_file.c_str());
        if (request.public_addresses_only) {
            curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, open_public_socket);
            curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, &exchange);
        }
        // A proxy would connect instead, without this check.
        if (request.public_addresses_only || endpoint.is_this_machine())
            curl_easy_setopt(easy_, CURLOPT_PROXY, "");
        // On a kept connection libcurl sends again by itself when the peer has closed it meanwhile.
        if (request.at_most_once) curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
    }

    CURLcode transfer(const Exchange& exchange, const Endpoint& endpoint) {
        const HttpRequest& request = exchange.request;
        std::optional<Clock::time_point> given_up;
        for (;;) {
            int running = 0;
            if (const CURLMcode code = curl_multi_perform(multi_, &running); code != CURLM_OK) {
                fail(ErrorKind::unreachable, http_error::no_answer, curl_multi_strerror(code));
            }
            int left = 0;
            while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
                if (message->msg == CURLMSG_DONE) return message->data.result;
            }
            const Clock::time_point now = Clock::now();
            if (interrupted_ || (request.keep_on && !request.keep_on())) {
                if (!given_up) given_up = now;
                if (!exchange.has_begun || request.on_body ||
                    now - *given_up > last_bytes_patience) {
                    fail(ErrorKind::unreachable, http_error::interrupted,
                         "the call was interrupted");
                }
            }
            if (request.idle_timeout > Millis(0) &&
                now - exchange.last_bytes > request.idle_timeout) {
                fail(ErrorKind::unreachable, http_error::timed_out,
                     fmt::format("{} has said nothing for {} ms", endpoint.shown,
                                 request.idle_timeout.count()));
            }
            curl_multi_poll(multi_, nullptr, 0, static_cast<int>(poll_period.count()), nullptr);
        }
    }

    [[noreturn]] void explain(CURLcode code, const Exchange& exchange,
                              const Endpoint& endpoint) const {
        const std::string detail = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(code);
        if (exchange.is_too_large) {
            fail(ErrorKind::unreachable, http_error::too_large,
                 fmt::format("the answer of {} is larger than {} bytes", endpoint.shown,
                             exchange.request.body_max));
        }
        switch (code) {
            case CURLE_COULDNT_CONNECT:
            case CURLE_COULDNT_RESOLVE_HOST:
            case CURLE_COULDNT_RESOLVE_PROXY:
                if (!exchange.refused_address.empty()) {
                    fail(ErrorKind::usage, http_error::private_address,
                         fmt::format("{} leads to {}, which is not a public address",
                                     endpoint.shown, exchange.refused_address));
                }
                fail(ErrorKind::unreachable, http_error::no_connection,
                     fmt::format("cannot reach {}: {}", endpoint.shown, detail));
            case CURLE_SSL_CONNECT_ERROR:
            case CURLE_PEER_FAILED_VERIFICATION:
            case CURLE_SSL_CACERT_BADFILE:
                fail(ErrorKind::unreachable, http_error::untrusted,
                     fmt::format("no trusted connection to {}: {}", endpoint.shown, detail));
            case CURLE_TOO_MANY_REDIRECTS:
                fail(ErrorKind::unreachable, http_error::too_many_redirects,
                     fmt::format("{} redirects more than {} times", endpoint.shown,
                                 exchange.request.redirects_max));
            case CURLE_OPERATION_TIMEDOUT:
                fail(ErrorKind::unreachable, http_error::timed_out,
                     fmt::format("no answer from {} in time: {}", endpoint.shown, detail));
            default:
                fail(ErrorKind::unreachable, http_error::no_answer,
                     fmt::format("no answer from {}: {}", endpoint.shown, detail));
        }
    }

    CURLM* multi_ = nullptr;
    CURL* easy_ = nullptr;
    std::atomic<bool> interrupted_ = false;
    bool connected_anywhere_ = false;  // kept connections may lead to any address
    char error_text_[CURL_ERROR_SIZE] = {};
};

HttpConnection::HttpConnection() : handle_(std::make_unique<Handle>()) {}
HttpConnection::~HttpConnection() = default;

HttpResponse HttpConnection::send(const HttpRequest& request) {
    return handle_->send(request);
}

void HttpConnection::interrupt() {
    handle_->interrupt();
}

}  // namespace sluice::client
