#include "simulation/lease_ends.hpp"

namespace sluice::simulation {
namespace {

bool is_by_worker(const Event& event) {
    return event.actor.starts_with("worker:");
}

bool is_by_operator(const Event& event) {
    return event.detail.find(lease_released_code) != std::string::npos;
}

const char* by_retry(const Event& event) {
    if (is_by_operator(event)) return "released by an operator";
    return is_by_worker(event) ? "failed, and is retried"
                               : "silent after its deadline, and is retried";
}

// The job had ended before.
const char* after_the_end(const Event& event, JobState state) {
    if (is_by_operator(event)) return "ended, and released by an operator";
    if (!is_by_worker(event)) return "ended, and lease lost";
    const bool has_reported = event.detail.find("reported") != std::string::npos;
    if (!has_reported) return "ended, and handed back";
    return state == JobState::canceled ? "canceled, and its worker stopped"
                                       : "timed out, and its worker stopped";
}

const char* with_the_end(const Event& event) {
    switch (event.step) {
        case Step::succeeded: return "succeeded";
        case Step::canceled: return "canceled by its worker";
        case Step::timed_out: return "timed out by its worker";
        default: break;
    }
    if (is_by_operator(event)) return "released at the last attempt";
    return is_by_worker(event) ? "failed" : "lease lost at the last attempt";
}

}  // namespace

const char* how_it_closes_its_lease(const Event& event, JobState state, bool is_kept) {
    switch (event.step) {
        case Step::handed_back: return "handed back";
        case Step::lease_expired: return "lease lost";
        case Step::retried: return by_retry(event);
        case Step::lease_closed: return after_the_end(event, state);
        default: break;
    }
    const bool ends = event.from == JobState::running && event.to && is_final(*event.to);
    return ends && !is_kept ? with_the_end(event) : nullptr;
}

}  // namespace sluice::simulation
