#pragma once

// Marks the symbols that the shared library exports. All others are hidden.
#if defined(__GNUC__)
#define SLUICE_EXPORT __attribute__((visibility("default")))
#else
#define SLUICE_EXPORT
#endif
