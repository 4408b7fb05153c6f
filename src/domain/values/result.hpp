#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <variant>

namespace sluice {

// Why a request was refused. Small and closed: one switch in each edge maps every code.
enum class ErrorCode {
    malformed,             // the request cannot be read: not JSON, not a number, not an id
    invalid,               // it can be read, but asks for something that is not allowed
    too_large,             // a field is over its limit
    not_found,             // no such object, or not visible to this caller
    conflict,              // the object's state does not allow this
    changed_meanwhile,     // another caller has changed it since this one has seen it
    lease_lost,            // the lease has ended, or another one has replaced it
    idempotency_mismatch,  // this key was used with another body
    forbidden,             // this caller may not do it
    invalid_transition,    // the table of the entity's kind does not have this step
    gate_closed,           // a required check has not succeeded
    resource_failed,       // the site or environment has failed and waits for its reset
    resource_not_failed,   // only a failed resource can be reset
    job_not_cancellable,   // the job has ended
    unavailable,           // the store cannot answer now; try again
    store_full,            // the store has no space for this; try again once there is some
    shutting_down,         // the engine is stopping; try again elsewhere or later
};

struct Error {
    ErrorCode code = ErrorCode::invalid;
    std::string message;  // for people: the problem, and how to solve it
    std::string pointer;  // JSON pointer to the offending field, or empty
    // When to try again, if that may help: of codes that say so.
    std::chrono::seconds retry_after{1};
};

// An answer or a refusal. Made from a plain T or a plain Error.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return content_.index() == 0; }
    T& operator*() & { return std::get<0>(content_); }
    const T& operator*() const& { return std::get<0>(content_); }
    T&& operator*() && { return std::get<0>(std::move(content_)); }
    T* operator->() { return &std::get<0>(content_); }
    const T* operator->() const { return &std::get<0>(content_); }
    Error& error() { return std::get<1>(content_); }
    const Error& error() const { return std::get<1>(content_); }

  private:
    std::variant<T, Error> content_;
};

// For answers that carry nothing.
struct Done {};

}  // namespace sluice
