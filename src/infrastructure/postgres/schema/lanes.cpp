#include "infrastructure/postgres/schema/lanes.hpp"

#include "domain/values/sha256.hpp"
#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/schema/tables.hpp"

namespace sluice::postgres {
namespace {

constexpr auto find_news =
    sql::query("find_lanes", "SELECT number, " + rows::read_columns<tables::lane_table> +
                                 " FROM lane WHERE number > $1::int8");

// A transaction takes its numbers before its commit makes them visible, so that a number below the
// largest known one may still appear. A lane that appears even later is found by load().
constexpr std::int64_t read_again = 32;

}  // namespace

LaneId lane_id(const Lane& lane) {
    std::string form = join_texts({lane.tenant, lane.queue, lane.type}) + join_texts(lane.labels);
    // Only when it is given, so that lanes without one have the ids that they had before.
    if (!lane.source.empty()) form += "source " + join_texts({lane.source});
    const Digest digest = sha256(form);
    std::uint64_t id = 0;
    for (std::size_t i = 0; i < sizeof id; ++i) id = id << 8 | digest[i];
    return static_cast<LaneId>(id);
}

bool Lanes::knows(LaneId id) const {
    const std::lock_guard lock(mutex_);
    return lanes_.contains(id);
}

std::size_t Lanes::size() const {
    const std::lock_guard lock(mutex_);
    return lanes_.size();
}

std::optional<Lane> Lanes::find(LaneId id) const {
    const std::lock_guard lock(mutex_);
    const auto found = lanes_.find(id);
    return found == lanes_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<LaneId> Lanes::matching(const ClaimFilter& filter) const {
    std::vector<LaneId> ids;
    const auto add_if_accepted = [&](LaneId id, const Lane& lane) {
        if (filter.accepts(lane)) ids.push_back(id);
    };
    const std::lock_guard lock(mutex_);
    if (filter.any_tenant) {
        for (const auto& [id, lane] : lanes_) add_if_accepted(id, lane);
    } else if (const auto own = of_tenant_.find(filter.tenant); own != of_tenant_.end()) {
        for (const LaneId id : own->second) add_if_accepted(id, lanes_.at(id));
    }
    return ids;
}

void Lanes::add(LaneId id, const Lane& lane) {
    const std::lock_guard lock(mutex_);
    insert(id, lane);
}

bool Lanes::insert(LaneId id, Lane lane) {
    const auto [found, is_new] = lanes_.try_emplace(id, std::move(lane));
    if (is_new) of_tenant_[found->second.tenant].push_back(id);
    return is_new;
}

Connection::Ticket Lanes::ask_for_news(Connection& connection) const {
    std::int64_t last = 0;
    {
        const std::lock_guard lock(mutex_);
        last = last_number_;
    }
    return connection.post(find_news, Params(last - read_again));
}

bool Lanes::take_news(const Result& news, const Uncommitted& uncommitted) {
    bool is_new = false;
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < news.rows(); ++i) {
        Row row(news, i);
        const std::int64_t number = row.integer();
        tables::LaneRow read;
        rows::read_row(row, tables::lane_table, std::tie(read));
        if (uncommitted.contains(read.id)) continue;
        last_number_ = std::max(last_number_, number);
        is_new |= insert(read.id, std::move(read.lane));
    }
    return is_new;
}

void Lanes::load(Connection& connection, const Uncommitted& uncommitted) {
    take_news(connection.ask(find_news, Params(std::int64_t{0})), uncommitted);
}

}  // namespace sluice::postgres
