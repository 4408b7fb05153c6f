// The same work for beanstalkd, in its own protocol: put jobs, or reserve and delete them. Each
// connection writes `depth` commands at once and then reads their answers.
#pragma once

#include <memory>

#include "bench/figures.hpp"
#include "bench/jobs.hpp"

namespace sluice::bench {

struct BeanstalkPlan {
    bool is_put = true;
    int port = 0;
    int server_pid = 0;
    std::size_t connections = 1;
    std::size_t depth = 1;
    Seconds duration{0};
};

class Beanstalk {
  public:
    explicit Beanstalk(const BeanstalkPlan& plan)
        : plan_(plan), window_({.engines = {plan.server_pid}}) {
        const std::string job = job_body({});
        for (std::size_t i = 0; i < plan_.depth; ++i) {
            puts_ += "put 100 0 60 " + std::to_string(job.size()) + "\r\n" + job + "\r\n";
            reserves_ += "reserve-with-timeout 0\r\n";
        }
        for (std::uint32_t i = 0; i < plan_.connections; ++i) {
            clients_.push_back(std::make_unique<Client>(poller_, i, plan_.port));
        }
    }

    void run() {
        window_.open();
        const TimePoint closes =
            Clock::now() + std::chrono::duration_cast<Clock::duration>(plan_.duration);
        for (auto& client : clients_) begin(*client);
        while (busy_ > 0) {
            const bool came = poller_.wait(10'000, [&](std::uint32_t place, std::uint32_t events) {
                advance(*clients_[place], events);
            });
            if (!came) die("beanstalkd has not answered for 10 s");
            if (Clock::now() < closes) continue;
            window_.close();
            ending_ = true;
        }
        window_.close();
        window_.print();
    }

  private:
    struct Client {
        Client(Poller& poller, std::uint32_t place, int port) : connection(poller, place, port) {}

        Connection connection;
        bool deletes = false;
        std::size_t awaited = 0;  // answers
        std::size_t reserved = 0;
        std::string commands{};
        TimePoint sent{};
    };

    void begin(Client& client) {
        ++busy_;
        client.deletes = false;
        client.awaited = plan_.depth;
        client.reserved = 0;
        client.commands.clear();
        send(client, plan_.is_put ? puts_ : reserves_);
    }

    static void send(Client& client, std::string_view commands) {
        client.sent = Clock::now();
        client.connection.send(commands);
    }

    void advance(Client& client, std::uint32_t events) {
        client.connection.progress(events);
        while (client.awaited > 0 && take_answer(client)) --client.awaited;
        if (client.awaited > 0) return;
        window_.add_answer(Clock::now() - client.sent);

        if (!plan_.is_put && !client.deletes && client.reserved > 0) {
            client.deletes = true;
            client.awaited = client.reserved;
            return send(client, client.commands);
        }
        --busy_;
        const bool is_empty = !plan_.is_put && client.reserved == 0;
        if (!ending_ && !is_empty) begin(client);
    }

    // Takes one whole answer from the input, if there is one.
    bool take_answer(Client& client) {
        const std::string_view input = client.connection.input();
        const std::size_t end = input.find("\r\n");
        if (end == std::string_view::npos) return false;
        const std::string_view line = input.substr(0, end);
        std::size_t bytes = end + 2;

        if (plan_.is_put || client.deletes) {
            if (!line.starts_with(plan_.is_put ? "INSERTED " : "DELETED")) refuse(line);
            window_.add_jobs(1);
        } else if (line.starts_with("RESERVED ")) {
            const std::string_view words = line.substr(9);
            const std::size_t space = words.find(' ');
            std::size_t body_bytes = 0;
            std::from_chars(words.data() + space + 1, words.data() + words.size(), body_bytes);
            bytes += body_bytes + 2;
            if (input.size() < bytes) return false;
            client.commands += "delete ";
            client.commands += words.substr(0, space);
            client.commands += "\r\n";
            ++client.reserved;
        } else if (line != "TIMED_OUT") {
            refuse(line);
        }
        client.connection.consume(bytes);
        return true;
    }

    [[noreturn]] static void refuse(std::string_view line) {
        die("beanstalkd answered " + std::string(line));
    }

    BeanstalkPlan plan_;
    Window window_;
    std::string puts_{};
    std::string reserves_{};
    Poller poller_{};
    std::vector<std::unique_ptr<Client>> clients_{};
    std::size_t busy_ = 0;
    bool ending_ = false;
};

}  // namespace sluice::bench
