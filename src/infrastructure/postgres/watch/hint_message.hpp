#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/limits/limit_rules.hpp"
#include "infrastructure/postgres/schema/lanes.hpp"

namespace sluice::postgres {

// A message between nodes, by NOTIFY.
struct HintMessage {
    std::int64_t owner = 0;             // the sender
    Timestamp due = never;              // when a node has to look for due work
    std::map<LaneId, int> readied{};    // how many jobs became claimable
    std::map<MeterId, int> returned{};  // how many permits came back
    bool rules_changed = false;         // those about what may run

    bool operator==(const HintMessage&) const = default;
};

// The message as payloads of NOTIFY, which takes 8000 bytes: several where one is not enough.
std::vector<std::string> to_payloads(const HintMessage& message);

// Nothing when the payload is not such a message.
std::optional<HintMessage> parse_payload(std::string_view payload);

}  // namespace sluice::postgres
