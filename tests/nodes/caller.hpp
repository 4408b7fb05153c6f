#pragma once

#include <memory>
#include <string>

#include "e2e/http_client.hpp"
#include "e2e/json.hpp"
#include "nodes/nodes.hpp"
#include "nodes/record.hpp"
#include "simulation/dice.hpp"

namespace sluice::nodes {

struct Call {
    std::string op{};
    e2e::Fields args{};  // for the record
    std::string method = "POST";
    std::string path{};
    std::string body{};
    std::string key{};     // Idempotency-Key
    e2e::Millis waits{0};  // how long the request itself asks to wait
};

struct Answer {
    int status = 0;  // 0: the outcome is unknown
    e2e::Json body{};

    bool is_known() const { return status != 0; }
    bool is_ok() const { return status >= 200 && status < 300; }
};

// Calls any of the nodes and records every call. One thread.
class Caller {
  public:
    Caller(Nodes& nodes, Record& record, std::string name, std::uint64_t seed,
           std::string tenant = "default")
        : nodes_(nodes),
          record_(record),
          name_(std::move(name)),
          tenant_(std::move(tenant)),
          dice(seed) {}

    const std::string& name() const { return name_; }
    const std::string& tenant() const { return tenant_; }

    // How long it waits for an answer.
    void set_patience(e2e::Millis patience) { patience_ = patience; }

    // One call to a random node.
    Answer once(const Call& call);

    // Calls again, at any node, until there is an answer, or for as long as nodes stay down at
    // most.
    Answer until_known(const Call& call);

    // Follows a stream of events at a random node from after `last`, for so long at most, and
    // returns the id of the last event that came.
    std::int64_t follow(const std::string& job, const std::string& path, std::int64_t last,
                        e2e::Millis time);

  private:
    Answer send(const Call& call);
    Answer send_follow(const std::string& path, std::int64_t last, e2e::Millis time);
    e2e::Client& connection();
    void write(const Call& call, std::int64_t t0, const Answer& answer);

    Nodes& nodes_;
    Record& record_;
    std::string name_;
    std::string tenant_;
    e2e::Millis patience_{15'000};
    std::unique_ptr<e2e::Client> client_;
    std::uint16_t port_ = 0;

  public:
    simulation::Dice dice;
};

}  // namespace sluice::nodes
