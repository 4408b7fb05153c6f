#include "client/http_place.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <memory>
#include <new>

#include "client/http.hpp"

namespace sluice::client {
namespace {

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
    std::string copy(text);
    curl_free(text);
    return copy;
}

// The URL without a user and password. It may be no URL at all, so everything goes that could be
// one: up to the last @ of all.
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

bool HttpPlace::is_this_machine() const {
    const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
    return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

HttpPlace read_place(const std::string& url) {
    const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
    if (!parts) throw std::bad_alloc();
    if (url.find("://") == std::string::npos) throw bad_url(url, "it has no http:// before it");
    const CURLUcode code =
        curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK) throw bad_url(url, curl_url_strerror(code));
    const std::string scheme = part_of(parts.get(), CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") throw bad_url(url, "only http and https are known");
    HttpPlace place{part_of(parts.get(), CURLUPART_HOST), {}};
    if (place.host.empty()) throw bad_url(url, "it names no host");
    place.shown = fmt::format("{}://{}:{}", scheme, place.host,
                              part_of(parts.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
    return place;
}

std::string url_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                              c == '~';
        if (is_plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace sluice::client
