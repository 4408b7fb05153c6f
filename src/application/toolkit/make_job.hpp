#pragma once

#include <optional>
#include <string>
#include <vector>

#include "application/toolkit/names.hpp"
#include "domain/jobs/job.hpp"
#include "domain/jobs/job_type.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Exclusive keys that begin so are the engine's own: the client did not ask for them and is not
// shown them.
inline constexpr std::string_view own_key_prefix = "@entity:";

// A job as a client asks for it: fields that are not set come from the job's type.
struct NewJob {
    std::string tenant = "default";
    std::string project{};
    std::optional<std::string> queue{};
    std::string type{};
    std::string payload = "null";
    std::optional<int> priority{};
    std::optional<Timestamp> run_after{};
    std::optional<Duration> delay{};
    std::optional<Duration> timeout{};
    std::optional<int> max_attempts{};
    std::optional<Backoff> backoff{};
    std::string entity_type{};
    std::string entity_id{};
    std::string site_id{};
    std::string node_id{};
    std::vector<std::string> exclusive_keys{};
    std::vector<std::string> labels{};
    std::vector<JobId> depends_on{};
    OnDependencyFailure on_dependency_failure = OnDependencyFailure::cancel;
    std::string source{};
    std::string correlation_id{};
};

namespace limits {
inline constexpr std::size_t payload_bytes = 256 * 1024;
inline constexpr std::size_t dependencies = 100;
inline constexpr std::size_t batch_jobs = 1000;
inline constexpr int priority = 1'000'000;  // either side of zero
inline constexpr int attempts = 1000;
inline constexpr Duration timeout = std::chrono::hours(24 * 30);
inline constexpr Duration delay = std::chrono::hours(24 * 366 * 10);
}  // namespace limits

// Checks every field and fills in the type's defaults. The refusal's pointer names the field.
Result<JobSpec> make_job(NewJob wanted, const JobTypes& types, Timestamp now);

}  // namespace sluice
