#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// Shared by all fuzz targets: one function that takes any bytes and checks the results.
namespace sluice::fuzz {

// Prints the broken expectation, and ends the process, which the fuzzer takes for a finding.
inline void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: did not hold: %s\n", what);
    std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Takes the first byte for a choice between `count` things. Letters, so that corpora stay readable.
inline std::size_t take_choice(std::string_view& input, std::size_t count) {
    if (input.empty()) return 0;
    const auto first = static_cast<unsigned char>(input.front());
    input.remove_prefix(1);
    return static_cast<std::size_t>(first - 'a' + 256) % count;
}

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
