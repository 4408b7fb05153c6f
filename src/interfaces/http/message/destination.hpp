#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::http {

struct Contract;
struct Route;

// The segments of a path that stand at the {…} of a pattern, in order. They are kept as positions
// in the path and not as views, since the bytes of a request may move while its body arrives.
class PathParams {
  public:
    static constexpr std::size_t count_max = 8;

    void add(std::size_t begin, std::size_t length) {
        segments_[count_++] = {static_cast<std::uint32_t>(begin),
                               static_cast<std::uint32_t>(length)};
    }
    void drop_last() { --count_; }
    std::size_t count() const { return count_; }

    // The segment of this path; empty when the pattern has fewer.
    std::string_view in(std::string_view path, std::size_t index) const {
        if (index >= count_) return {};
        return path.substr(segments_[index].begin, segments_[index].length);
    }

  private:
    struct Segment {
        std::uint32_t begin = 0;
        std::uint32_t length = 0;
    };
    std::array<Segment, count_max> segments_{};
    std::size_t count_ = 0;
};

// The destination of a request. The router sets it when the head of the request has arrived; the
// server carries it along and knows nothing about routes.
struct Destination {
    const Route* route = nullptr;        // nothing: the path does not have the verb
    const Contract* contract = nullptr;  // of the route; without a route, the path's
    PathParams params{};
};

}  // namespace sluice::http
