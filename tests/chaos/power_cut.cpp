// The store is on a disk of its own. While clients and workers use the engine it is stopped, the
// disk's contents of that moment are copied, and the engine goes on with the copy: data that was
// only in the kernel's memory is lost, as in a power cut.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "chaos/disk.hpp"
#include "chaos/episode.hpp"

namespace sluice::chaos {
namespace {

namespace fs = std::filesystem;
using e2e::Millis;

constexpr int cuts_of_an_episode = 25;
constexpr int image_megabytes = 64;

// The engine: the only child of this process while no command runs.
std::string child() {
    std::ifstream file("/proc/self/task/" + std::to_string(gettid()) + "/children");
    std::string pid;
    file >> pid;
    return pid;
}

bool stands_still(const std::string& pid) {
    for (const auto& thread : fs::directory_iterator("/proc/" + pid + "/task")) {
        std::ifstream file(thread.path() / "stat");
        std::string text;
        std::getline(file, text);
        const std::size_t name_end = text.rfind(')');
        if (name_end == std::string::npos || text[name_end + 2] != 'T') return false;
    }
    return true;
}

void cut_the_power(Episode& episode, Disk& disk) {
    const std::string pid = child();
    episode.nodes().freeze(0);
    // A thread that is writing or syncing stops after that.
    if (!e2e::eventually([&] { return stands_still(pid); })) {
        throw std::runtime_error("the engine does not stand still");
    }
    disk.remember_what_is_on_it();
    episode.kill();
    disk.lose_the_rest();
}

Scene scene_on(const Disk& disk, std::uint64_t seed, const std::string& repeat) {
    return {.store = "sqlite:" + (disk.path() / "db").string(),
            .store_folder = disk.path(),
            .seed = seed,
            .repeat = repeat};
}

void run_episode(const Order& order, std::uint64_t seed, int cuts, Tally& tally) {
    const FastFolder folder;
    Disk disk = Disk::image(folder.path(), image_megabytes);
    Episode episode(scene_on(disk, seed, fmt::format("power-cut={}", cuts)), tally);
    simulation::Dice dice(seed);
    episode.start();
    {
        Load load(episode, 8, 8, 1);
        for (int cut = 0; cut < cuts && !order.is_over(); ++cut) {
            std::this_thread::sleep_for(Millis(20 + dice.below(300)));
            cut_the_power(episode, disk);
            episode.start();
            episode.look_for_acknowledged();
            ++tally.cycles;
        }
        load.stop_clients();
        episode.drain();
    }
    episode.judge();
}

// A good store, and then a disk that lies about its writes. Returns how many acknowledged jobs are
// gone. A store that does not even open tells nothing about whether the loss of a job would be
// seen, so it does not count.
int lose_some(std::uint64_t seed, Tally& tally) {
    const FastFolder folder;
    Disk disk = Disk::image(folder.path(), image_megabytes);
    Scene scene = scene_on(disk, seed, "");
    scene.is_control = true;
    Tally unwanted;
    Episode episode(scene, unwanted);
    episode.start();
    episode.kill();
    episode.start("fdatasync:1+:skip");
    const Load load(episode, 8, 8);
    std::this_thread::sleep_for(Millis(400));
    cut_the_power(episode, disk);
    episode.stage().phase = nodes::Phase::over;
    tally.acknowledged += episode.stage().jobs_after(0).size();
    try {
        episode.start();
    } catch (const std::exception&) {
        return 0;
    }
    return episode.look_for_acknowledged();
}

}  // namespace

void power_cuts(const Order& order, Tally& tally) {
    std::uint64_t seed = order.seed;
    for (int left = order.count; left > 0 && !order.is_over(); ++seed) {
        const int cuts = std::min(left, cuts_of_an_episode);
        run_episode(order, seed, cuts, tally);
        left -= cuts;
    }
}

void power_cut_control(const Order& order, Tally& tally) {
    int lost = 0;
    for (int i = 0; i < order.count && lost == 0; ++i) {
        lost = lose_some(order.seed + static_cast<std::uint64_t>(i), tally);
        ++tally.cycles;
    }
    tally.note = fmt::format("lost {} acknowledged jobs, as it must", lost);
    if (lost == 0) {
        ++tally.violations;
        fmt::print("{}: a disk that lies has lost nothing; would a loss be seen?\n", tally.fault);
    }
}

}  // namespace sluice::chaos
