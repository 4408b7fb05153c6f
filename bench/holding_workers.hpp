// Workers that each hold one lease at a time for a while, as far as the engine gives them one: a
// claim that waits, the hold, the report.
#pragma once

#include <deque>
#include <memory>

#include "bench/figures.hpp"
#include "bench/jobs.hpp"

namespace sluice::bench {

struct Holding {
    std::vector<int> ports{};
    Servers servers{};
    JobNames names{};
    std::size_t workers = 1;
    std::chrono::milliseconds hold{0};
    Seconds duration{1};
};

class HoldingWorkers {
  public:
    explicit HoldingWorkers(Holding plan)
        : plan_(std::move(plan)),
          claim_(claim_text(plan_.names, 1, wait_ms)),
          window_(plan_.servers) {
        for (std::uint32_t i = 0; i < plan_.workers; ++i) {
            const int port = plan_.ports[i % plan_.ports.size()];
            workers_.push_back(std::make_unique<Worker>(poller_, i, port));
        }
    }

    void run() {
        window_.open();
        closes_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(plan_.duration);
        for (auto& worker : workers_) begin(*worker);
        while (busy_ > 0) {
            poller_.wait(millis_to_next_report(), [&](std::uint32_t place, std::uint32_t events) {
                advance(place, events);
            });
            report_due();
            if (Clock::now() >= closes_) window_.close();
        }
        window_.close();
        window_.print();
        print_figure("most_held", static_cast<double>(most_held_));
    }

  private:
    static constexpr int wait_ms = 1000;

    struct Worker {
        Worker(Poller& poller, std::uint32_t place, int port) : connection(poller, place, port) {}

        Connection connection;
        AnswerReader reader{};
        bool is_reporting = false;
        TimePoint sent{};
        std::string report{};
    };

    void begin(Worker& worker) {
        ++busy_;
        worker.is_reporting = false;
        send(worker, claim_);
    }

    void send(Worker& worker, const std::string& text) {
        worker.sent = Clock::now();
        worker.connection.send(text);
    }

    void advance(std::uint32_t place, std::uint32_t events) {
        Worker& worker = *workers_[place];
        worker.connection.progress(events);
        const auto answer = worker.reader.take(worker.connection);
        if (!answer) return;
        window_.add_answer(Clock::now() - worker.sent);
        demand_success(*answer);
        if (worker.is_reporting) {
            window_.add_jobs(1);
        } else if (hold(worker, *answer, place)) {
            worker.connection.consume(answer->bytes);
            return;
        }
        worker.connection.consume(answer->bytes);
        --busy_;
        if (Clock::now() < closes_) begin(worker);
    }

    bool hold(Worker& worker, const Answer& answer, std::uint32_t place) {
        find_leases(answer.body, leases_);
        if (leases_.empty()) return false;
        write_report(worker.report, leases_, false);
        held_.emplace_back(Clock::now() + plan_.hold, place);
        most_held_ = std::max(most_held_, held_.size());
        return true;
    }

    void report_due() {
        while (!held_.empty() && held_.front().first <= Clock::now()) {
            Worker& worker = *workers_[held_.front().second];
            held_.pop_front();
            worker.is_reporting = true;
            send(worker, worker.report);
        }
    }

    int millis_to_next_report() const {
        if (held_.empty()) return wait_ms;
        const double left = to_millis(held_.front().first - Clock::now());
        return std::max(0, static_cast<int>(left + 0.999));
    }

    Holding plan_;
    std::string claim_;
    Window window_;
    TimePoint closes_{};
    Poller poller_{};
    std::vector<std::unique_ptr<Worker>> workers_{};
    std::deque<std::pair<TimePoint, std::uint32_t>> held_{};  // when to report, which worker
    // Leases that workers held at one moment, from the claim's answer to the report: the engine's
    // count is never lower.
    std::size_t most_held_ = 0;
    std::vector<std::string_view> leases_{};
    std::size_t busy_ = 0;
};

}  // namespace sluice::bench
