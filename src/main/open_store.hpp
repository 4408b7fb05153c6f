#pragma once

#include <memory>
#include <string>

#include "application/ports/store.hpp"

namespace sluice {

// Opens the store that the URL names: memory: or sqlite:PATH. Throws std::runtime_error with what
// is wrong with the URL or the store.
std::unique_ptr<Store> open_store(const std::string& url, Timestamp now);

// Only reads, and may do so while an engine owns the store.
std::unique_ptr<JobReader> open_reader(const std::string& url);

}  // namespace sluice
