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
    std::string key{};  // Idempotency-Key
};

struct Answer {
    int status = 0;  // 0: nobody knows what became of the call
    e2e::Json body{};

    bool is_known() const { return status != 0; }
    bool is_ok() const { return status >= 200 && status < 300; }
};

// Someone who talks to any of the nodes and has everything recorded. One thread.
class Caller {
  public:
    Caller(Nodes& nodes, Record& record, std::string name, std::uint64_t seed)
        : nodes_(nodes), record_(record), name_(std::move(name)), dice(seed) {}

    const std::string& name() const { return name_; }

    // One call to a node of chance.
    Answer once(const Call& call);

    // Calls again, at any node, until there is an answer, or for as long as nodes stay down at
    // most.
    Answer until_known(const Call& call);

  private:
    Answer send(const Call& call);
    e2e::Client& connection();

    Nodes& nodes_;
    Record& record_;
    std::string name_;
    std::unique_ptr<e2e::Client> client_;
    std::uint16_t port_ = 0;

  public:
    simulation::Dice dice;
};

}  // namespace sluice::nodes
