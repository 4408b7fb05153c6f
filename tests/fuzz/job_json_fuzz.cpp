// The bodies of the native contract. Beyond not breaking: an accepted body keeps the limits, and
// the JSON in it is JSON.
#include <string>

#include "application/toolkit/contract_rules.hpp"
#include "application/toolkit/names.hpp"
#include "input.hpp"
#include "interfaces/http/native/read_job.hpp"
#include "interfaces/http/requests/read_lease.hpp"

namespace sluice::http::native {
namespace {

using fuzz::expect;

constexpr LeaseTerms terms{.usual = std::chrono::seconds(30), .max = std::chrono::hours(1)};

bool is_json(std::string_view text) {
    JsonReader reader(text, JsonLimits::depth_possible);
    reader.raw();
    return static_cast<bool>(reader.finish());
}

void check_job(const JobRequest& request) {
    const NewJob& job = request.job;
    expect(is_json(job.payload), "a payload is JSON");
    expect(job.delay.value_or(Duration{}) >= Duration{}, "a delay is not negative");
    expect(job.timeout.value_or(Duration{}) >= Duration{}, "a timeout is not negative");
    const Timestamp now = from_micros(1'800'000'000'000'000);
    const auto made = make_job(job, Catalog::built_in().types, now);
    if (!made) return;
    expect(!made->type.empty() && made->type.size() <= limits::name_bytes, "a type is a name");
    expect(made->payload.size() <= limits::payload_bytes, "a payload keeps its limit");
    expect(made->max_attempts >= 1 && made->max_attempts <= limits::attempts, "attempts are few");
}

void read_one_job(std::string_view text) {
    JsonReader reader(text);
    const JobRequest request = read_job(reader, "acme", false);
    if (reader.finish()) check_job(request);
}

void read_batch(std::string_view text) {
    JsonReader reader(text);
    std::vector<JobRequest> jobs;
    reader.array([&](std::size_t) { jobs.push_back(read_job(reader, "acme", true)); });
    if (!reader.finish()) return;
    for (const JobRequest& job : jobs) check_job(job);
}

void read_one_claim(std::string_view text) {
    const Caller worker{.tenant = "acme", .scopes = {Scope::work}};
    JsonReader reader(text);
    const ClaimRequest request = read_claim(reader, terms, worker);
    if (!reader.finish()) return;
    expect(!request.claim.worker_id.empty(), "a claim says who takes the jobs");
    expect(request.claim.limit >= 1, "a claim takes something");
    expect(request.claim.term >= lease_min && request.claim.term <= terms.max,
           "leases have a term");
    expect(request.wait >= Duration{} && request.wait <= wait_max, "waits have an end");
}

void read_one_report(std::string_view text) {
    JsonReader reader(text);
    const Report report = read_report(reader, LeaseSeal());
    if (!reader.finish()) return;
    expect(report.result.empty() || is_json(report.result), "a result is JSON");
    expect(report.error_code.size() <= limits::name_bytes, "an error code is a name");
}

void read_many_reports(std::string_view text) {
    JsonReader reader(text);
    const auto reports = read_many<Report>(
        reader, "reports", [](JsonReader& each) { return read_report(each, LeaseSeal()); });
    if (!reader.finish()) return;
    for (const Report& report : reports) expect(report.lease.job != JobId{}, "each has its lease");
}

void read_lines(std::string_view text) {
    JsonReader reader(text);
    const AppendLogs batch = read_log_batch(reader);
    if (!reader.finish()) return;
    expect(!batch.entries.empty(), "a batch has lines");
    for (const LogEntry& entry : batch.entries) {
        expect(entry.data.empty() || is_json(entry.data), "data is JSON");
    }
}

void read_others(std::string_view text) {
    JsonReader beat(text), release(text);
    const Heartbeat heartbeat = read_heartbeat(beat, terms, LeaseSeal());
    if (beat.finish())
        expect(heartbeat.term.value_or(lease_min) >= lease_min, "leases have a term");
    read_release(release);
    static_cast<void>(release.finish());
}

}  // namespace

void run(std::string_view input) {
    constexpr void (*readers[])(std::string_view) = {
        read_one_job,      read_batch, read_one_claim, read_one_report,
        read_many_reports, read_lines, read_others};
    readers[fuzz::take_choice(input, std::size(readers))](input);
}

}  // namespace sluice::http::native

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sluice::http::native::run(sluice::fuzz::text_of(data, size));
    return 0;
}
