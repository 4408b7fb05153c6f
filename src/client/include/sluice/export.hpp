#pragma once

// What the shared library offers. Everything else in it is hidden.
#if defined(__GNUC__)
#define SLUICE_EXPORT __attribute__((visibility("default")))
#else
#define SLUICE_EXPORT
#endif
