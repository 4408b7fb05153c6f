#pragma once

#include "application/ports/commands.hpp"
#include "interfaces/http/toolkit/app.hpp"

// Actions on the job in the path: the body may give a reason, the query the tenant that the job
// must belong to.
namespace sluice::http {

Result<CancelJob> read_cancel(const Call& call);

// The reason is required. The body may also have a ticket, and ask for a dry run.
Result<ReleaseLease> read_release_lease(const Call& call);

// With the request's Idempotency-Key.
Result<ReplayJob> read_replay(const Call& call);

}  // namespace sluice::http
