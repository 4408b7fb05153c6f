#include "interfaces/http/server/request_ids.hpp"

#include <cstddef>
#include <random>
#include <string_view>

namespace sluice::http {
namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";  // Crockford's base 32
constexpr std::size_t prefix_characters = 10;
constexpr std::size_t counter_characters = 10;

}  // namespace

RequestIds::RequestIds() {
    std::random_device random;
    for (std::size_t i = 0; i < prefix_characters; ++i) prefix_.push_back(alphabet[random() % 32]);
}

void RequestIds::next(std::string& out) {
    out.assign(prefix_);
    std::uint64_t rest = counter_++;
    out.resize(prefix_characters + counter_characters);
    for (std::size_t i = out.size(); i > prefix_characters; --i, rest >>= 5) {
        out[i - 1] = alphabet[rest & 31];
    }
}

}  // namespace sluice::http
