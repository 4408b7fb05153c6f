#pragma once

#include <cstdint>
#include <string>

namespace sluice::http {

// Makes ids for requests: unlike those of other processes by a random prefix, and unlike each other
// by a counter. They identify, they do not protect: nobody needs to be unable to guess them.
class RequestIds {
  public:
    RequestIds();

    // Overwrites `out` with 20 characters; costs no allocation when it has the room.
    void next(std::string& out);

  private:
    std::string prefix_;
    std::uint64_t counter_ = 0;
};

}  // namespace sluice::http
