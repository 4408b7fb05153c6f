#include "client/link/endpoint.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <memory>
#include <new>

#include "client/link/http.hpp"

namespace sluice::client {
namespace {

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
    std::string copy(text);
    curl_free(text);
    return copy;
}

// The URL without a user and password. It may be no URL at all, so everything up to the last @ is
// removed.
std::string without_user(const std::string& url) {
    const std::size_t at = url.rfind('@');
    if (at == std::string::npos) return url;
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string::npos || scheme > at ? 0 : scheme + 3;
    return url.substr(0, begin) + url.substr(at + 1);
}

Error bad_url(const std::string& url, const char* why) {
    return {ErrorKind::usage, 0, http_error::bad_url,
            fmt::format("\"{}\" is not an address such as http://host:7070: {}", without_user(url),
                        why)};
}

}  // namespace

bool Endpoint::is_this_machine() const {
    const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
    return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

Endpoint parse_endpoint(const std::string& url) {
    const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
    if (!parts) throw std::bad_alloc();
    if (url.find("://") == std::string::npos) throw bad_url(url, "it has no http:// before it");
    const CURLUcode code =
        curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK) throw bad_url(url, curl_url_strerror(code));
    const std::string scheme = part_of(parts.get(), CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") throw bad_url(url, "only http and https are known");
    Endpoint endpoint{part_of(parts.get(), CURLUPART_HOST), {}};
    if (endpoint.host.empty()) throw bad_url(url, "it names no host");
    endpoint.shown = fmt::format("{}://{}:{}", scheme, endpoint.host,
                                 part_of(parts.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
    return endpoint;
}

}  // namespace sluice::client
