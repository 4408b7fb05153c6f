#pragma once

#include <cstdlib>

namespace sluice {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_built_with_sanitizer = true;
#else
inline constexpr bool is_built_with_sanitizer = false;
#endif

// Whether this program, or the engine that it talks to, was built with a sanitizer: everything
// takes longer then, and memory is kept after it was freed. Tests that measure either are left out.
// The variable names the engine to be tested instead of the one that was built with the tests.
inline const bool is_sanitized =
    is_built_with_sanitizer || std::getenv("SLUICE_TEST_BINARY") != nullptr;

}  // namespace sluice
