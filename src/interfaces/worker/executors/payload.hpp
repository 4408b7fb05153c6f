#pragma once

#include <string>
#include <string_view>

#include "domain/values/result.hpp"
#include "sluice/worker.hpp"

namespace sluice::worker {

// The payload as one JSON value. The job must outlive it.
inline std::string_view payload_text(const client::Job& job) {
    return job.payload.empty() ? std::string_view("null") : std::string_view(job.payload);
}

// The outcome of a job whose payload its worker cannot use; another try is no use.
inline client::Outcome invalid_payload(const Error& error) {
    const std::string where = error.pointer.empty() ? "" : " " + error.pointer;
    return client::Outcome::failed("INVALID_PAYLOAD", "payload" + where + " " + error.message,
                                   false);
}

}  // namespace sluice::worker
