// The store's disk gets full while clients and workers use the engine: submits are refused, reads
// go on, and the running jobs go on and end, from the reserve. Once there is space the engine goes
// on by itself, and everything that was acknowledged is there.
#include <fmt/format.h>

#include "chaos/disk.hpp"
#include "chaos/episode.hpp"

namespace sluice::chaos {
namespace {

using e2e::Millis;

constexpr int megabytes = 16;
constexpr Millis until_full{10'000};
constexpr Millis until_usable{10'000};

int post(Episode& episode, const std::string& path, const std::string& body) {
    return e2e::Client(episode.nodes().port(0)).post(path, body).status;
}

// In a queue of its own, from which no worker claims.
int submit_status(Episode& episode) {
    const std::string body =
        R"({"type":"task","queue":"probe","payload":")" + std::string(20'000, 'x') + R"("})";
    return post(episode, "/api/v1/jobs", body);
}

// Jobs that run when the disk gets full, under leases that end long before there is space again.
constexpr int jobs_at_work = 5;
constexpr Millis while_full{6'000};

std::vector<std::string> take_some(Episode& episode) {
    for (int i = 0; i < jobs_at_work; ++i) submit_status(episode);
    const e2e::Response answer =
        e2e::Client(episode.nodes().port(0))
            .post("/api/v1/leases",
                  R"({"worker_id":"probe","queues":["probe"],"limit":5,"lease_ms":2000})");
    std::vector<std::string> leases;
    for (const e2e::Json& lease : e2e::list(e2e::parse(answer.body), "leases")) {
        leases.push_back(e2e::text(lease, "lease_id"));
    }
    return leases;
}

void expect_said(Episode& episode, const std::string& lease, const std::string& verb,
                 const std::string& body) {
    const e2e::Response answer =
        e2e::Client(episode.nodes().port(0)).post("/api/v1/leases/" + lease + verb, body);
    if (answer.status == 200) return;
    episode.complain(
        fmt::format("on a full disk {} was answered {}: {}", verb, answer.status, answer.body));
}

void expect_told(Episode& episode) {
    const e2e::Response ready = e2e::Client(episode.nodes().port(0)).get("/readyz");
    if (ready.status == 503 && ready.body.find("store_full") != std::string::npos) return;
    episode.complain(fmt::format("on a full disk /readyz says {}: {}", ready.status, ready.body));
}

// None of them has lost its attempt.
void expect_first_attempts(Episode& episode, const std::vector<std::string>& leases) {
    for (const std::string& lease : leases) {
        const std::string path = "/api/v1/jobs/" + lease.substr(0, 24);
        const e2e::Json job = e2e::parse(e2e::Client(episode.nodes().port(0)).get(path).body);
        if (e2e::text(job, "state") == "succeeded" && e2e::number(job, "attempt") == 1) continue;
        episode.complain("a job that ended while the disk was full has lost its attempt: " +
                         boost::json::serialize(job));
    }
}

// A small write may still fit while a bigger one does not; so a few must be refused in a row.
bool refuses_submits(Episode& episode) {
    for (int i = 0; i < 5; ++i) {
        const int status = submit_status(episode);
        if (status == 202) return false;
        if (status != 503 && status != 507) {
            episode.complain(fmt::format("on a full disk a submit was answered {}", status));
        }
    }
    return true;
}

void expect_reads(Episode& episode) {
    const auto jobs = episode.stage().jobs_after(0);
    if (jobs.empty()) return episode.complain("nothing was submitted before the disk was full");
    const std::string path = "/api/v1/jobs/" + jobs.back().job;
    const int status = e2e::Client(episode.nodes().port(0)).get(path).status;
    if (status != 200) {
        episode.complain(fmt::format("on a full disk a read was answered {}", status));
    }
}

// Until there is space again. The running jobs go on, and end.
void look_at_full_disk(Episode& episode, const std::vector<std::string>& leases, Tally& tally) {
    // Data for which the log had space before is still there.
    if (!e2e::eventually([&] { return refuses_submits(episode); }, until_full)) {
        episode.complain("the disk is full, and submits are accepted");
    }
    expect_reads(episode);
    expect_told(episode);
    const auto full = std::chrono::steady_clock::now();
    while (e2e::since(full) < while_full) {
        for (const std::string& lease : leases) expect_said(episode, lease, "/heartbeat", "{}");
        std::this_thread::sleep_for(Millis(300));
    }
    for (const std::string& lease : leases) {
        expect_said(episode, lease, "/report", R"({"outcome":"succeeded"})");
    }
    tally.note = fmt::format("{} jobs ended on a full disk", leases.size());
    expect_reads(episode);
}

void look_at_usable_disk(Episode& episode, const std::vector<std::string>& leases, Tally& tally) {
    const auto freed = std::chrono::steady_clock::now();
    if (!e2e::eventually([&] { return submit_status(episode) == 202; }, until_usable)) {
        episode.complain("there is room again, and submits are refused");
    }
    tally.worst_recovery = std::max(tally.worst_recovery, e2e::since(freed));
    expect_first_attempts(episode, leases);
}

void run_round(Disk disk, std::uint64_t seed, Tally& tally) {
    Episode episode({.store = "sqlite:" + (disk.path() / "db").string(),
                     .store_folder = disk.path(),
                     .seed = seed,
                     .repeat = "disk-full=1"},
                    tally);
    episode.start();
    {
        Load load(episode, 8, 8);
        std::this_thread::sleep_for(Millis(1000));
        const std::vector<std::string> leases = take_some(episode);
        disk.fill();
        look_at_full_disk(episode, leases, tally);
        disk.free();
        look_at_usable_disk(episode, leases, tally);
        std::this_thread::sleep_for(Millis(300));
        load.stop_clients();
        episode.drain();
    }
    episode.look_for_acknowledged();
    episode.judge();
    ++tally.cycles;
}

}  // namespace

void full_disks(const Order& order, Tally& tally) {
    for (int i = 0; i < order.count && !order.is_over(); ++i) {
        const FastFolder folder;
        const std::uint64_t seed = order.seed + static_cast<std::uint64_t>(i);
        // Both kinds of disk in turn; an odd seed has the second one.
        const bool is_image = seed % 2 == 1;
        run_round(is_image ? Disk::image(folder.path(), megabytes)
                           : Disk::memory(folder.path(), megabytes),
                  seed, tally);
    }
}

}  // namespace sluice::chaos
