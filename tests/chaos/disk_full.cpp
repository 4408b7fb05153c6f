// The store's disk gets full while clients and workers use the engine: what would have to be
// written is refused, what is only read is not. Once there is room the engine goes on by itself,
// and everything that was acknowledged is there.
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

// In a queue of its own, that no one looks at.
int submit_status(Episode& episode) {
    const std::string body =
        R"({"type":"task","queue":"probe","payload":")" + std::string(20'000, 'x') + R"("})";
    return post(episode, "/api/v1/jobs", body);
}

// A job that is about to be reported when the disk is full.
std::string take_one(Episode& episode) {
    submit_status(episode);
    const e2e::Response answer =
        e2e::Client(episode.nodes().port(0))
            .post("/api/v1/leases", R"({"worker_id":"probe","queues":["probe"]})");
    return e2e::text(e2e::list(e2e::parse(answer.body), "leases").at(0), "lease_id");
}

int report_status(Episode& episode, const std::string& lease) {
    return post(episode, "/api/v1/leases/" + lease + "/report", R"({"outcome":"succeeded"})");
}

// Some small thing may still fit while a bigger one does not; so a few must be refused in a row.
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

// Until there is room again.
void look_at_full_disk(Episode& episode, const std::string& lease, Tally& tally) {
    // What the log had room for before is still there.
    if (!e2e::eventually([&] { return refuses_submits(episode); }, until_full)) {
        episode.complain("the disk is full, and submits are accepted");
    }
    expect_reads(episode);
    const int reported = report_status(episode, lease);
    tally.note = fmt::format("a report on a full disk got {}", reported);
    if (reported != 200 && reported != 503 && reported != 507) {
        episode.complain(fmt::format("on a full disk a report was answered {}", reported));
    }
    std::this_thread::sleep_for(Millis(500));
    expect_reads(episode);
}

void look_at_usable_disk(Episode& episode, const std::string& lease, Tally& tally) {
    const auto freed = std::chrono::steady_clock::now();
    if (!e2e::eventually([&] { return submit_status(episode) == 202; }, until_usable)) {
        episode.complain("there is room again, and submits are refused");
    }
    tally.worst_recovery = std::max(tally.worst_recovery, e2e::since(freed));
    if (const int status = report_status(episode, lease); status != 200) {
        episode.complain(fmt::format("there is room again, and a report got {}", status));
    }
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
        const std::string lease = take_one(episode);
        std::this_thread::sleep_for(Millis(1000));
        disk.fill();
        look_at_full_disk(episode, lease, tally);
        disk.free();
        look_at_usable_disk(episode, lease, tally);
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
