#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "domain/lane.hpp"
#include "infrastructure/postgres/connection.hpp"

namespace sluice::postgres {

using LaneId = std::int64_t;

// Names a lane everywhere alike, without asking anybody.
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

    // Rows of lane that are, or may be, new to this process: a statement to post, and what
    // to do with its result. Returns whether there was a lane that was not known. Numbers are given
    // before the commit, so that the last few are always read again. Those that are not committed
    // yet, because the asking session has made them itself, are left out.
    using Uncommitted = std::map<LaneId, Lane>;
    Connection::Ticket ask_for_news(Connection& connection) const;
    bool take_news(const Result& news, const Uncommitted& uncommitted = {});

    // Reads all.
    void load(Connection& connection, const Uncommitted& uncommitted = {});

  private:
    mutable std::mutex mutex_;
    std::unordered_map<LaneId, Lane> lanes_;
    std::int64_t last_number_ = 0;
};

}  // namespace sluice::postgres
