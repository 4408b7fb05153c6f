#include "interfaces/http/api_jobs/contract.hpp"

#include <array>

#include "interfaces/http/api_jobs/handlers.hpp"
#include "interfaces/http/message/problem.hpp"

namespace sluice::http::api_jobs {
namespace {

// clang-format off
constexpr auto routes = std::to_array<Route>({
    {Verb::post, "/api/jobs",              needs::operate, submit},
    {Verb::get,  "/api/jobs",              needs::read, list},
    {Verb::get,  "/api/jobs/{id}",         needs::read, get},
    {Verb::get,  "/api/jobs/{id}/logs",    needs::read, get_logs},
    {Verb::get,  "/api/jobs/{id}/stream",  needs::read, stream},
    {Verb::post, "/api/jobs/{id}/cancel",  needs::operate, cancel},
    {Verb::post, "/api/jobs/{id}/replay",  needs::operate, replay},
});
// clang-format on

Response refusal(int status, std::string_view code, const std::string& message,
                 std::string_view request_id) {
    return problem(status, code, message, request_id);
}

}  // namespace

const Contract& contract() {
    static const Contract contract{"/api/jobs", routes, refusal, Reading::tolerant};
    return contract;
}

}  // namespace sluice::http::api_jobs
