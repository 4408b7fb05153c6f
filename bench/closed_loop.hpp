// Connections that each repeat the same steps; the next request is sent when the last answer has
// arrived.
//
// A run ends cleanly: after the time is up, or the wanted number of jobs is reached, no connection
// begins again, but each finishes its steps. Then no job is leased, and the engine's counts must
// equal those of the connections.
#pragma once

#include <memory>
#include <thread>

#include "bench/deploy_jobs.hpp"
#include "bench/figures.hpp"
#include "bench/jobs.hpp"

namespace sluice::bench {

enum class Step { submit, claim, report };

// The contract whose paths the steps use.
enum class Contract { native, deploy };

struct Plan {
    Contract contract = Contract::native;
    std::vector<Step> steps{};
    std::vector<int> ports{};  // of the nodes; connections take turns
    Servers servers{};
    JobNames names{};
    std::size_t tenants = 0;  // given: each turn of the steps is for the next of so many tenants
    std::size_t connections = 1;
    std::size_t batch = 1;  // jobs in one request
    Seconds warm_up{0};     // not measured
    Seconds duration{0};    // zero: until `jobs` are done, or nothing is left to claim
    std::uint64_t jobs = 0;
    int wait_ms = 0;       // how long a claim may wait for a job
    bool is_alone = true;  // false: other clients talk to the engine, so its counts differ
    Seconds slice{0};      // report the rate of each such part; zero: only that of the whole
};

class ClosedLoop {
  public:
    explicit ClosedLoop(Plan plan) : plan_(std::move(plan)), window_(plan_.servers) {
        for (std::size_t i = 0; i < std::max<std::size_t>(plan_.tenants, 1); ++i) {
            JobNames names = plan_.names;
            if (plan_.tenants > 0) names.tenant = tenant_name(i);
            texts_.push_back(
                {submit_text(names, plan_.batch), claim_text(names, plan_.batch, plan_.wait_ms)});
        }
        for (std::uint32_t i = 0; i < plan_.connections; ++i) {
            const int port = plan_.ports[i % plan_.ports.size()];
            clients_.push_back(std::make_unique<Client>(poller_, i, port));
        }
    }

    void run() {
        const Counts before = count_all();
        const TimePoint opens = Clock::now() + as_ticks(plan_.warm_up);
        const TimePoint closes = opens + as_ticks(plan_.duration);
        const bool is_timed = plan_.duration > Seconds{0};
        bool was_opened = plan_.warm_up == Seconds{0};

        if (was_opened) window_.open();
        for (auto& client : clients_) begin(*client);
        while (busy_ > 0) {
            const bool came = poller_.wait(10'000, [&](std::uint32_t place, std::uint32_t events) {
                advance(*clients_[place], events);
            });
            if (!came) die("the server has not answered for 10 s");
            const TimePoint now = Clock::now();
            if (!was_opened && now >= opens) {
                was_opened = true;
                window_.open();
            }
            if (window_.is_open()) tell_slice(now);
            if (is_timed && now >= closes) {
                window_.close();
                ending_ = true;
            }
        }
        window_.close();
        if (plan_.is_alone) check_counts(before);
        window_.print();
    }

  private:
    struct Texts {
        std::string submit;
        std::string claim;
    };

    struct Client {
        Client(Poller& poller, std::uint32_t place, int port)
            : connection(poller, place, port), deploy(place) {}

        Connection connection;
        DeployTexts deploy;
        AnswerReader reader{};
        std::size_t step = 0;
        const Texts* texts = nullptr;
        TimePoint sent{};
        std::size_t claimed = 0;  // jobs that it has to report
        std::string report{};
    };

    static Clock::duration as_ticks(Seconds seconds) {
        return std::chrono::duration_cast<Clock::duration>(seconds);
    }

    void begin(Client& client) {
        client.step = 0;
        client.texts = &texts_[turns_++ % texts_.size()];
        ++busy_;
        send(client);
    }

    void send(Client& client) {
        const bool is_deploy = plan_.contract == Contract::deploy;
        client.sent = Clock::now();
        switch (plan_.steps[client.step]) {
            case Step::submit:
                begun_ += plan_.batch;
                return client.connection.send(is_deploy ? client.deploy.create()
                                                        : client.texts->submit);
            case Step::claim:
                return client.connection.send(is_deploy ? client.deploy.claim()
                                                        : client.texts->claim);
            case Step::report: return client.connection.send(client.report);
        }
    }

    void advance(Client& client, std::uint32_t events) {
        client.connection.progress(events);
        const auto answer = client.reader.take(client.connection);
        if (!answer) return;
        window_.add_answer(Clock::now() - client.sent);
        demand_success(*answer);
        if (plan_.contract == Contract::deploy) demand_deploy_success(*answer);
        const bool goes_on = take(client, *answer);
        client.connection.consume(answer->bytes);

        if (goes_on && ++client.step < plan_.steps.size()) return send(client);
        --busy_;
        if (goes_on && !is_enough()) begin(client);
    }

    bool is_enough() const { return ending_ || (plan_.jobs > 0 && begun_ >= plan_.jobs); }

    // False: the queue is empty, there is no more to do.
    bool take(Client& client, const Answer& answer) {
        std::uint64_t jobs = plan_.batch;
        switch (plan_.steps[client.step]) {
            case Step::submit: counted_.submitted += jobs; break;
            case Step::claim:
                jobs = take_claimed(client, answer);
                counted_.claimed += jobs;
                if (jobs == 0 || (jobs < plan_.batch && plan_.steps[0] == Step::submit)) {
                    return end_of_queue(jobs);
                }
                break;
            case Step::report:
                jobs = client.claimed;
                counted_.succeeded += jobs;
                break;
        }
        if (client.step + 1 == plan_.steps.size()) window_.add_jobs(jobs);
        return true;
    }

    // Writes the report of the claimed jobs; returns how many these are.
    std::size_t take_claimed(Client& client, const Answer& answer) {
        if (plan_.contract == Contract::deploy) {
            client.claimed = client.deploy.write_report(client.report, answer.body) ? 1 : 0;
            return client.claimed;
        }
        find_leases(answer.body, leases_);
        client.claimed = leases_.size();
        if (!leases_.empty()) write_report(client.report, leases_, plan_.batch > 1);
        return client.claimed;
    }

    // Each client of a cycle claims as many as it has just submitted, so all must find some.
    bool end_of_queue(std::uint64_t jobs) {
        if (plan_.steps[0] == Step::submit) {
            die("a claim brought " + std::to_string(jobs) + " of " + std::to_string(plan_.batch) +
                " jobs though more were queued");
        }
        return false;
    }

    // CPU time per job tells what the rate cannot while other programs use the machine, too.
    void tell_slice(TimePoint now) {
        if (plan_.slice == Seconds{0}) return;
        if (slice_began_ == TimePoint{}) return begin_slice(now);
        const Seconds passed = now - slice_began_;
        if (passed < plan_.slice) return;
        const auto jobs = static_cast<double>(window_.jobs() - slice_jobs_);
        const double cpu = servers_cpu() - slice_cpu_;
        print_figure("slice_rate", jobs / passed.count());
        print_figure("slice_cpu_us", cpu * 1e6 / std::max(jobs, 1.0));
        begin_slice(now);
    }

    void begin_slice(TimePoint now) {
        slice_began_ = now;
        slice_jobs_ = window_.jobs();
        slice_cpu_ = servers_cpu();
    }

    double servers_cpu() const { return plan_.servers.engine_cpu() + plan_.servers.store_cpu(); }

    Counts count_all() const {
        Counts all{};
        for (const int port : plan_.ports) all = all + ask_counts(port);
        return all;
    }

    // The engine may count a moment after it has answered.
    void check_counts(const Counts& before) const {
        Counts theirs{};
        for (int attempt = 0; attempt < 50; ++attempt) {
            theirs = count_all() - before;
            if (theirs == counted_) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        die("the engine counted " + theirs.text() + "; the client " + counted_.text());
    }

    Plan plan_;
    Window window_;
    std::vector<Texts> texts_{};  // of each tenant
    std::size_t turns_ = 0;       // of the steps, of all connections
    Poller poller_{};
    std::vector<std::unique_ptr<Client>> clients_{};
    std::vector<std::string_view> leases_{};  // of the claim that is being read
    std::size_t busy_ = 0;
    std::uint64_t begun_ = 0;  // jobs in submits that were sent
    bool ending_ = false;
    Counts counted_{};
    TimePoint slice_began_{};
    std::uint64_t slice_jobs_ = 0;
    double slice_cpu_ = 0;
};

}  // namespace sluice::bench
