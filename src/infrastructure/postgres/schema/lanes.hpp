#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "domain/jobs/lane.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

using LaneId = std::int64_t;

// The lane's id, computed from its name: the same on every node.
LaneId lane_id(const Lane& lane);

// The lanes that this process knows to be in the table lane. They are never removed there.
// Thread-safe.
class Lanes {
  public:
    bool knows(LaneId id) const;
    std::size_t size() const;
    std::optional<Lane> find(LaneId id) const;

    // The lanes that the filter accepts.
    std::vector<LaneId> matching(const ClaimFilter& filter) const;

    // Adds lanes whose rows are committed.
    void add(LaneId id, const Lane& lane);

    // Reads rows of the table lane that are, or may be, new to this process: the first posts a
    // statement, the second takes its result and returns whether a lane was not known. Numbers are
    // given before the commit, so the last few are always read again. Lanes that the asking session
    // has made itself, and not committed yet, are left out.
    using Uncommitted = std::map<LaneId, Lane>;
    Connection::Ticket ask_for_news(Connection& connection) const;
    bool take_news(const Result& news, const Uncommitted& uncommitted = {});

    // Reads all lanes.
    void load(Connection& connection, const Uncommitted& uncommitted = {});

  private:
    bool insert(LaneId id, Lane lane);

    mutable std::mutex mutex_;
    std::unordered_map<LaneId, Lane> lanes_;
    std::unordered_map<std::string, std::vector<LaneId>> of_tenant_;
    std::int64_t last_number_ = 0;
};

}  // namespace sluice::postgres
