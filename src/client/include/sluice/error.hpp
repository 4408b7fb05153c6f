#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "sluice/export.hpp"

namespace sluice::client {

// Why a call failed.
enum class ErrorKind {
    refused,      // the engine understood and refused; code() says why
    unavailable,  // the engine cannot do it now (503); to send the same again is safe
    unreachable,  // no answer: refused connection, lost connection, time out, not an engine
    usage,        // the call itself is invalid, e.g. not a server address
};

// Thrown by every call of this library. what() is for people.
class SLUICE_EXPORT Error : public std::runtime_error {
  public:
    Error(ErrorKind kind, int status, std::string code, std::string message,
          std::string pointer = {}, std::chrono::milliseconds retry_after = {})
        : std::runtime_error(std::move(message)),
          kind_(kind),
          status_(status),
          code_(std::move(code)),
          pointer_(std::move(pointer)),
          retry_after_(retry_after) {}

    ErrorKind kind() const { return kind_; }
    int status() const { return status_; }             // of HTTP; 0 without an answer
    const std::string& code() const { return code_; }  // the engine's: "not_found", "lease_lost"…
    const std::string& pointer() const { return pointer_; }  // JSON pointer to the field, or empty
    std::chrono::milliseconds retry_after() const { return retry_after_; }  // 0: not given

    // Whether the same call may succeed later, unchanged.
    bool may_be_repeated() const {
        return kind_ == ErrorKind::unavailable || kind_ == ErrorKind::unreachable;
    }

  private:
    ErrorKind kind_;
    int status_;
    std::string code_;
    std::string pointer_;
    std::chrono::milliseconds retry_after_;
};

}  // namespace sluice::client
