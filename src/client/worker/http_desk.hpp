#pragma once

#include <memory>

#include "client/runner/desk.hpp"

namespace sluice::client {

// The gateway to an engine that is reached over HTTP.
std::unique_ptr<Desk> http_desk(const Options& options);

}  // namespace sluice::client
