#include "infrastructure/jwt/jwks_fetch.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <memory>
#include <mutex>

namespace sluice {
namespace {

struct CloseCurl {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};

// Called from C: nothing may be thrown.
std::size_t take_bytes(char* data, std::size_t, std::size_t size, void* user) noexcept {
    auto& body = *static_cast<std::string*>(user);
    if (body.size() + size > jwks_bytes_max) return 0;
    body.append(data, size);
    return size;
}

int ask_to_stop(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
    return static_cast<const std::atomic<bool>*>(user)->load() ? 1 : 0;
}

Error failure(std::string why) {
    return {ErrorCode::unavailable, std::move(why), ""};
}

std::string text_of(CURLcode code, const char* details) {
    if (code == CURLE_WRITE_ERROR) return fmt::format("is larger than {} bytes", jwks_bytes_max);
    return *details == '\0' ? curl_easy_strerror(code) : details;
}

}  // namespace

Result<std::string> fetch_jwks(const std::string& url, std::chrono::milliseconds timeout,
                               const std::atomic<bool>& stop) {
    static std::once_flag initialised;
    std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    const std::unique_ptr<CURL, CloseCurl> curl(curl_easy_init());
    if (curl == nullptr) return failure("libcurl does not start");
    std::string body;
    char details[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    curl_easy_setopt(curl.get(), CURLOPT_MAXFILESIZE, static_cast<long>(jwks_bytes_max));
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, details);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, ask_to_stop);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &stop);

    const CURLcode code = curl_easy_perform(curl.get());
    if (code != CURLE_OK) return failure(text_of(code, details));
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return failure(fmt::format(
            "the server answered with status {}, not 200; check the URL of auth.jwt.jwks", status));
    return body;
}

}  // namespace sluice
