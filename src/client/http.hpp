#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/client.hpp"

// HTTP as a client speaks it, over libcurl. Nothing else in the tree includes libcurl.
namespace sluice::client {

struct HttpRequest {
    std::string method = "GET";
    std::string url{};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
    Millis connect_timeout{5'000};
    Millis timeout{30'000};              // of the whole exchange; zero: none
    std::size_t body_max = 0;            // more than this is an error; zero: any
    int redirects_max = 0;               // how many are followed; zero: none
    bool public_addresses_only = false;  // refuse to connect to loopback, private, link-local…
    std::string ca_file{};
    // Takes the body as it comes, in place of HttpResponse::body; false ends the exchange.
    std::function<bool(std::string_view)> on_body{};
    // Asked at least every 200 ms; false ends the exchange.
    std::function<bool()> keep_on{};
};

struct HttpResponse {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};

    // The value of the first header of this name, in any case; empty when there is none.
    std::string_view header(std::string_view name) const;
};

// One connection that is kept between requests. One thread at a time, but for interrupt().
class HttpConnection {
  public:
    HttpConnection();
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    // Throws Error (unreachable, with a text for people) when there is no whole answer; usage when
    // the URL is none, or is not http or https.
    HttpResponse send(const HttpRequest& request);

    // Ends a send() that is under way, and all that follow, as unreachable. From any thread.
    void interrupt();

  private:
    class Handle;
    std::unique_ptr<Handle> handle_;
};

}  // namespace sluice::client
