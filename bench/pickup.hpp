// How long a job waits for a worker whose claim waits already: a claim is parked on one connection,
// then a job is submitted on another, perhaps at another node; the time runs from just before the
// submit to the claim's answer.
#pragma once

#include <random>
#include <thread>

#include "bench/figures.hpp"
#include "bench/jobs.hpp"

namespace sluice::bench {

class Pickup {
  public:
    // Jobs are submitted at the first port, and claimed at the last one.
    Pickup(const std::vector<int>& ports, Servers servers, const std::string& queue)
        : servers_(std::move(servers)),
          producer_(poller_, 0, ports.front()),
          worker_(poller_, 1, ports.back()),
          submit_(submit_text({.queue = queue}, 1)),
          claim_(claim_text({.queue = queue}, 1, 20'000)) {}

    void run(std::size_t samples) {
        std::vector<double> millis;
        Window window(servers_);
        window.open();
        for (std::size_t i = 0; i < samples; ++i) millis.push_back(sample());
        window.add_jobs(samples);
        window.close();
        window.print();
        std::sort(millis.begin(), millis.end());
        print_figure("p50_ms", millis[samples / 2]);
        print_figure("p99_ms", millis[samples * 99 / 100]);
        print_figure("max_ms", millis.back());
    }

  private:
    double sample() {
        worker_.send(claim_);
        std::this_thread::sleep_for(std::chrono::microseconds(pause_us_(random_)));

        const TimePoint start = Clock::now();
        producer_.send(submit_);
        Answer claimed = await(worker_, worker_reader_);
        const double millis = to_millis(Clock::now() - start);

        find_leases(claimed.body, leases_);
        if (leases_.size() != 1) die("a waiting claim brought " + std::string(claimed.body));
        write_report(report_, leases_, false);
        worker_.consume(claimed.bytes);
        producer_.consume(await(producer_, producer_reader_).bytes);
        worker_.send(report_);
        worker_.consume(await(worker_, worker_reader_).bytes);
        return millis;
    }

    Answer await(Connection& connection, AnswerReader& reader) {
        for (;;) {
            if (const auto answer = reader.take(connection)) {
                demand_success(*answer);
                return *answer;
            }
            const bool came = poller_.wait(10'000, [&](std::uint32_t place, std::uint32_t events) {
                (place == 0 ? producer_ : worker_).progress(events);
            });
            if (!came) die("the server has not answered for 10 s");
        }
    }

    Servers servers_;
    Poller poller_{};
    Connection producer_;
    Connection worker_;
    AnswerReader producer_reader_{};
    AnswerReader worker_reader_{};
    std::string submit_;
    std::string claim_;
    std::string report_{};
    std::vector<std::string_view> leases_{};
    std::minstd_rand random_{42};
    std::uniform_int_distribution<int> pause_us_{5'000, 15'000};
};

}  // namespace sluice::bench
