#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infrastructure/postgres/lanes.hpp"

namespace sluice::postgres {

// What nodes tell each other by NOTIFY.
struct HintMessage {
    std::int64_t owner = 0;           // who says it
    Timestamp due = never;            // somebody has to look at something then
    std::map<LaneId, int> readied{};  // how many jobs became claimable

    bool operator==(const HintMessage&) const = default;
};

// As text that NOTIFY can carry, which takes 8000 bytes: more than one where it does not fit.
std::vector<std::string> to_payloads(const HintMessage& message);

// Nothing when it is not one.
std::optional<HintMessage> parse_payload(std::string_view payload);

}  // namespace sluice::postgres
