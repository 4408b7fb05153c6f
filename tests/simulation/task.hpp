#pragma once

#include <coroutine>
#include <optional>
#include <utility>

namespace sluice::simulation {

// A coroutine that waits in between, for a time or for an answer, while others go on. It starts
// when it is awaited or started, and its frame goes with this object.
template <class T>
class [[nodiscard]] Task;

namespace detail {

// Resumes the coroutine that waits for the task.
struct Return {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
        const auto waiting = ended.promise().waiting;
        return waiting ? waiting : std::noop_coroutine();
    }
    void await_resume() noexcept {}
};

struct PromiseBase {
    std::coroutine_handle<> waiting{};

    std::suspend_always initial_suspend() noexcept { return {}; }
    Return final_suspend() noexcept { return {}; }
    // A violation ends the whole play: it is thrown to the caller that resumed this.
    void unhandled_exception() { throw; }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value{};

    Task<T> get_return_object();
    void return_value(T made) { value.emplace(std::move(made)); }
    T result() { return *std::move(value); }
};

template <>
struct Promise<void> : PromiseBase {
    Task<void> get_return_object();
    void return_void() {}
    void result() {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
  public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (handle_) handle_.destroy();
    }

    void start() { handle_.resume(); }

    bool await_ready() const { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
        handle_.promise().waiting = waiting;
        return handle_;
    }
    T await_resume() { return handle_.promise().result(); }

  private:
    Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() {
    return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
    return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

}  // namespace sluice::simulation
