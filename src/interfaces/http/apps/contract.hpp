#pragma once

#include "interfaces/http/toolkit/route.hpp"

// Seed 000: apps, their jobs, and what gates ask for.
namespace sluice::http::apps {

const Contract& contract();

}  // namespace sluice::http::apps
