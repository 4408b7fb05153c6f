#pragma once

#include <memory>

#include "client/desk.hpp"

namespace sluice::client {

// The desk of an engine that is reached over HTTP.
std::unique_ptr<Desk> http_desk(const Options& options);

}  // namespace sluice::client
