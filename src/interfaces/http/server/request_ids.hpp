#pragma once

#include <cstdint>
#include <string>

namespace sluice::http {

// Makes ids for requests: unlike those of other processes by a random prefix, and unlike each other
// by a counter. They only identify requests: they are no secrets, and may be guessed.
class RequestIds {
  public:
    RequestIds();

    // Overwrites `out` with 20 characters; costs no allocation when its capacity suffices.
    void next(std::string& out);

  private:
    std::string prefix_;
    std::uint64_t counter_ = 0;
};

}  // namespace sluice::http
