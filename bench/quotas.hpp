// Adds a quota for each of many tenants, one call for each.
#pragma once

#include <memory>

#include "bench/figures.hpp"
#include "bench/jobs.hpp"

namespace sluice::bench {

// `bounds`: the members of each quota beside its tenant.
inline void add_quotas(int port, Servers servers, std::size_t tenants, std::size_t connections,
                       const std::string& bounds) {
    struct Client {
        Client(Poller& poller, std::uint32_t place, int to) : connection(poller, place, to) {}
        Connection connection;
        AnswerReader reader{};
        std::string text{};
        TimePoint sent{};
    };
    Poller poller;
    std::vector<std::unique_ptr<Client>> clients;
    Window window(std::move(servers));
    std::size_t begun = 0;
    std::size_t done = 0;
    const auto add_next = [&](Client& client) {
        if (begun == tenants) return;
        std::string body = "{";
        append_member(body, "tenant", tenant_name(begun++));
        append_member(body, "reason", "bench");
        client.text = post_text("/api/v1/quotas", body + bounds + "}");
        client.sent = Clock::now();
        client.connection.send(client.text);
    };
    window.open();
    for (std::uint32_t i = 0; i < connections; ++i) {
        clients.push_back(std::make_unique<Client>(poller, i, port));
        add_next(*clients.back());
    }
    while (done < tenants) {
        const bool came = poller.wait(60'000, [&](std::uint32_t place, std::uint32_t events) {
            Client& client = *clients[place];
            client.connection.progress(events);
            const auto answer = client.reader.take(client.connection);
            if (!answer) return;
            demand_success(*answer);
            client.connection.consume(answer->bytes);
            window.add_answer(Clock::now() - client.sent);
            window.add_jobs(1);
            ++done;
            add_next(client);
        });
        if (!came) die("the server has not answered for 60 s");
    }
    window.close();
    window.print();
}

}  // namespace sluice::bench
