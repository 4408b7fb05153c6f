#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "domain/values/result.hpp"

namespace sluice {

inline constexpr std::size_t jwks_bytes_max = 256 * 1024;

// Downloads a JWKS from a URL, with its certificate checked; no redirect is followed. Returns when
// it has arrived, the time is over, or `stop` has become true. The error is for the log.
Result<std::string> fetch_jwks(const std::string& url, std::chrono::milliseconds timeout,
                               const std::atomic<bool>& stop);

}  // namespace sluice
