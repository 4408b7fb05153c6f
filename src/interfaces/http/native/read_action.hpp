#pragma once

#include "application/commands.hpp"
#include "interfaces/http/app.hpp"

// What is asked of the job in the path: the body may say why, the query whose job it must be.
namespace sluice::http::native {

Result<CancelJob> read_cancel(const Call& call);

// With the request's Idempotency-Key.
Result<ReplayJob> read_replay(const Call& call);

}  // namespace sluice::http::native
