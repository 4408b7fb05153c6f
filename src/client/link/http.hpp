#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/client.hpp"

// An HTTP client over libcurl. No other file includes libcurl.
namespace sluice::client {

struct HttpRequest {
    std::string method = "GET";
    std::string url{};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
    Millis connect_timeout{5'000};
    Millis timeout{30'000};              // of the whole exchange; zero: none
    Millis idle_timeout{0};              // between two pieces of the answer; zero: none
    std::size_t body_max = 0;            // more than this is an error; zero: any
    bool cut_body = false;               // a larger body is cut off, not an error
    int redirects_max = 0;               // how many are followed; zero: none
    bool public_addresses_only = false;  // refuse to connect to loopback, private, link-local…
    std::vector<std::string> allowed_addresses{};  // in spite of that, e.g. "10.0.0.7"
    bool at_most_once = false;  // never sent again by itself when a kept connection is dead
    std::string ca_file{};
    // Takes the body of a 2xx answer as it comes, instead of HttpResponse::body; false ends the
    // exchange, and send() returns. An exception of it comes out of send().
    std::function<bool(std::string_view)> on_body{};
    // Asked at least every 200 ms; false ends the exchange as interrupt() does.
    std::function<bool()> keep_on{};
};

// Codes of the errors that HttpConnection throws.
namespace http_error {
inline constexpr const char* bad_url = "bad_url";
inline constexpr const char* private_address = "private_address";
inline constexpr const char* no_connection = "no_connection";  // nothing was sent
inline constexpr const char* untrusted = "untrusted";          // its certificate is not valid
inline constexpr const char* no_answer = "no_answer";          // it broke off, or made no sense
inline constexpr const char* timed_out = "timed_out";
inline constexpr const char* too_large = "too_large";
inline constexpr const char* too_many_redirects = "too_many_redirects";
inline constexpr const char* interrupted = "interrupted";
}  // namespace http_error

struct HttpResponse {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
    std::string redirect_url{};  // the target of a redirect that was not followed, in full

    // The value of the first header of this name, in any case; empty when there is none.
    std::string_view header(std::string_view name) const;
};

// One connection that is kept between requests. One thread at a time, but for interrupt(). Requests
// with and without public_addresses_only need different ones, since a connection that was made
// without the check might serve a redirect later.
class HttpConnection {
  public:
    HttpConnection();
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    // Throws Error when there is no whole answer: unreachable, with a text for people and one of
    // the codes above; or usage, when the URL is invalid, is not http or https ("bad_url"), or
    // leads to an address that public_addresses_only refuses ("private_address").
    HttpResponse send(const HttpRequest& request);

    // Ends a send() that is under way, and all later ones, as unreachable ("interrupted"). An
    // answer that has begun to arrive is still taken, unless that takes long. From any thread.
    void interrupt();

  private:
    class Handle;
    std::unique_ptr<Handle> handle_;
};

}  // namespace sluice::client
