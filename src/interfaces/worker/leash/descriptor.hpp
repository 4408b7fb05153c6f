#pragma once

#include <unistd.h>

#include <utility>

namespace sluice::worker {

// A file descriptor that is closed with its owner.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

    void reset() {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

  private:
    int number_ = -1;
};

struct Pipe {
    Descriptor reader{};
    Descriptor writer{};
};

// Both ends close on exec; the reader does not block. Throws std::system_error.
Pipe make_pipe();

}  // namespace sluice::worker
