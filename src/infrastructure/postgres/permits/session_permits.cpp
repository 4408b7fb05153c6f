#include "infrastructure/postgres/permits/session_permits.hpp"

#include <algorithm>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/schema/limit_queries.hpp"
#include "infrastructure/postgres/statements/entity_queries.hpp"
#include "infrastructure/postgres/statements/limit_reader.hpp"

namespace sluice::postgres {
namespace {

const MeterState idle{};
// A lane that opens by time is looked at so often at the most.
constexpr Duration shortest_look = std::chrono::milliseconds(5);
// The times of two nodes differ by less.
constexpr Duration between_nodes = std::chrono::seconds(1);
// A meter that was waited for in vain is not waited for again for so long, and looked at so often.
constexpr Duration stuck_for = std::chrono::seconds(5);
constexpr Duration looks_at_stuck = std::chrono::milliseconds(250);
// So many meters of further lanes are read together.
constexpr std::size_t looked_at_once = 256;

std::vector<MeterId> keys_of(const auto& map) {
    std::vector<MeterId> keys;
    keys.reserve(map.size());
    for (const auto& [key, value] : map) keys.push_back(key);
    return keys;
}

bool is_same_lane(const Lane& lane, const JobSpec& spec) {
    return lane.tenant == spec.tenant && lane.queue == spec.queue && lane.type == spec.type &&
           lane.source == spec.source;
}

}  // namespace

SessionPermits::~SessionPermits() {
    if (is_committed_) return;
    cluster_.limits.close_again(opened_);
    for (const MeterId meter : closed_) cluster_.limits.open(meter);
    cluster_.limits.tell_refused(refused_);
}

const std::shared_ptr<const LimitRules>& SessionPermits::rules() {
    if (!rules_) {
        EntityQueries entities(connection_, &writes_);
        rules_ = cluster_.limits.current(entities, cluster_.time.now());
    }
    return rules_;
}

// ── taking ──

void SessionPermits::add(const Meters& wanted) {
    TableRows<tables::meter_table> rows;
    for (const auto& [id, meter] : wanted) {
        rows.add(meter.row, meter.taken);
        added_.push_back(id);
    }
    connection_.send(sql::add_meters, Params(rows));
    writes_.note_written();
}

void SessionPermits::lock(const Query& query, Meters& wanted, Timestamp now) {
    read_locked(connection_.ask(query, Params(keys_of(wanted))), wanted, now);
}

// Moves the meters that were read from `wanted` to those that are locked. A node whose clock stood
// still may be behind the others: buckets go by their time. A session may have waited for the lock:
// what others have spent meanwhile is not a clock that was set back.
void SessionPermits::read_locked(const Result& rows, Meters& wanted, Timestamp now) {
    const Duration waited = since_time_was_taken();
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        auto found = wanted.extract(row.integer());
        Meter& meter = found.mapped();
        MeterState& state = meter.row.state;
        meter.taken.count = row.integer();
        state.full_at_ns = row.integer();
        state.owed_until_ns = row.integer();
        state.starts = StartsOfHour::parse(row.text());
        state.active = meter.taken.count - row.integer();
        latest_ = std::max(latest_, row.time());
        meter.stored = state;
        meter.stored_taken = meter.taken;
        settle(*meter.rule, state, meter_time(now) + waited + between_nodes);
        if (const auto own = returns_.find(found.key()); own != returns_.end()) {
            net_return(meter, own->second);
            returns_.erase(own);
        }
        meters_.insert(std::move(found));
    }
}

void SessionPermits::want(const Permit& permit, const Lane& lane, Meters& wanted) const {
    if (permit.meter == 0 || meters_.contains(permit.meter)) return;
    const auto [added, is_new] = wanted.try_emplace(permit.meter);
    if (!is_new) return;
    added->second.rule = permit.rule;
    added->second.row = {
        .id = permit.meter, .rule = permit.rule->id, .name = meter_name(*permit.rule, lane)};
}

void SessionPermits::lock(std::span<const NamedLane> lanes, Timestamp now) {
    Meters wanted;
    for (const NamedLane& lane : lanes) {
        const auto [known, is_new] = lanes_.try_emplace(lane.id);
        if (!is_new) continue;
        known->second = cluster_.limits.permits_of(lane.id, lane.lane, rules());
        if (!known->second) continue;
        for (const Permit& permit : *known->second) want(permit, lane.lane, wanted);
    }
    if (wanted.empty()) return;
    const bool is_in_order = meters_.empty() || meters_.rbegin()->first < wanted.begin()->first;
    const bool is_any_stuck = std::any_of(wanted.begin(), wanted.end(),
                                          [&](const auto& meter) { return is_stuck(meter.first); });
    if (may_wait_ && is_in_order && !is_any_stuck) return lock_waiting(wanted, now);
    lock(sql::try_lock_meters, wanted, now);
    for (auto& [id, meter] : wanted) {
        cluster_.limits.pass_over({id, std::move(meter.row.rule), std::move(meter.row.name)});
    }
}

void SessionPermits::lock_waiting(Meters& wanted, Timestamp now) {
    const bool are_known = std::all_of(wanted.begin(), wanted.end(), [&](const auto& meter) {
        return cluster_.limits.knows(meter.first);
    });
    const std::vector<MeterId> ids = keys_of(wanted);
    try {
        if (!are_known) add(wanted);
        lock(sql::lock_meters, wanted, now);
        if (wanted.empty()) return;
        add(wanted);  // removed since this node has seen them
        lock(sql::lock_meters, wanted, now);
    } catch (const RowLocked&) {
        cluster_.limits.waited_in_vain(ids, cluster_.time.now() + stuck_for);
        throw;
    }
}

bool SessionPermits::is_stuck(MeterId meter) const {
    return cluster_.limits.is_stuck(meter, cluster_.time.now());
}

void SessionPermits::lock_passed_over(Timestamp now) {
    if (!may_wait_) return;
    Meters wanted;
    for (LaneLimits::PassedOver& meter : cluster_.limits.take_passed_over()) {
        if (is_stuck(meter.id)) continue;
        const LimitRule* const rule = rules()->find(meter.rule);
        if (!rule || !rule->has_meter() || meters_.contains(meter.id)) continue;
        wanted[meter.id] = {
            .rule = rule,
            .row = {.id = meter.id, .rule = std::move(meter.rule), .name = std::move(meter.name)}};
    }
    if (wanted.empty()) return;
    lock_waiting(wanted, now);
}

Permits SessionPermits::permits_of(LaneId lane) const {
    const auto found = lanes_.find(lane);
    check(found != lanes_.end(), "the meters of a lane are locked before it is taken from");
    return found->second;
}

// Nothing: another session has it.
const MeterState* SessionPermits::state_of(const Permit& permit) const {
    if (permit.meter == 0) return &idle;
    const auto found = meters_.find(permit.meter);
    return found == meters_.end() ? nullptr : &found->second.row.state;
}

Admission SessionPermits::admission(LaneId lane, Timestamp now) const {
    const Permits permits = permits_of(lane);
    if (!permits) return {};
    std::vector<const MeterState*> states;
    for (const Permit& permit : *permits) {
        states.push_back(state_of(permit));
        if (!states.back()) return {.count = 0};
    }
    return admission_of(*permits, states, meter_time(now));
}

void SessionPermits::note_start(LaneId lane, Timestamp now) {
    if (lanes_.empty()) return;
    const Permits permits = permits_of(lane);
    if (!permits) return;
    for (const Permit& permit : *permits) {
        if (permit.meter == 0) continue;
        Meter& meter = meters_.at(permit.meter);
        sluice::note_start(*permit.rule, meter.row.state, meter_time(now));
        if (permit.rule->max_active) ++meter.taken.count;
    }
}

bool SessionPermits::Trial::start(LaneId lane, Timestamp now) {
    const Permits permits = permits_.permits_of(lane);
    if (!permits) return true;
    std::vector<const MeterState*> states;
    for (const Permit& permit : *permits) {
        const MeterState* state = permits_.state_of(permit);
        if (!state) return false;
        if (permit.meter != 0) state = &states_.try_emplace(permit.meter, *state).first->second;
        states.push_back(state);
    }
    const Timestamp time = permits_.meter_time(now);
    if (admission_of(*permits, states, time).count == 0) return false;
    for (const Permit& permit : *permits) {
        if (permit.meter != 0) sluice::note_start(*permit.rule, states_.at(permit.meter), time);
    }
    return true;
}

// ── meters without room ──

// Lists the meters before it looks for permits that have come back since they were read: one that
// comes back later finds them listed.
void SessionPermits::close(std::span<const LaneId> refused, Timestamp now) {
    std::set<MeterId> counting;  // those to which permits come back
    for (const LaneId lane : refused) {
        refused_.insert(lane);
        for (const MeterId meter : note_closed(lane, now)) counting.insert(meter);
    }
    look_at_returns(counting, now);
}

// Returns those of its meters that have no room because of what is active.
std::vector<MeterId> SessionPermits::note_closed(LaneId lane, Timestamp now) {
    std::vector<MeterId> counting;
    const Permits permits = permits_of(lane);
    for (const Permit& permit : *permits) {
        const MeterState* const state = state_of(permit);
        if (!state) {
            if (is_stuck(permit.meter)) {
                cluster_.limits.close(permit, rules(), now + looks_at_stuck);
                closed_.insert(permit.meter);
            } else {
                passed_over_[lane] = 1;
            }
            continue;
        }
        const Room room = room_of(*permit.rule, *state, meter_time(now));
        if (room.count > 0) continue;
        cluster_.limits.close(permit, rules(), std::max(room.look_again, now + shortest_look));
        if (permit.meter == 0) continue;
        closed_.insert(permit.meter);
        if (permit.rule->max_active) counting.push_back(permit.meter);
    }
    return counting;
}

void SessionPermits::look_at_returns(const std::set<MeterId>& meters, Timestamp now) {
    if (meters.empty()) return;
    const Result found = connection_.ask(
        sql::find_returned, Params(std::vector<MeterId>(meters.begin(), meters.end())));
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        const MeterId id = row.integer();
        Meter& meter = meters_.at(id);
        meter.row.state.active = meter.taken.count - row.integer();
        const Room room = room_of(*meter.rule, meter.row.state, meter_time(now));
        if (room.count > 0) {
            closed_.erase(id);
            cluster_.limits.open(id);
        } else if (room.look_again != never) {
            // The meter waits for its rate now.
            cluster_.limits.look_by(id, std::max(room.look_again, now + shortest_look));
        }
    }
}

// Listed first, for the same reason. Of very many lanes the first ones are looked at.
void SessionPermits::look_at(std::span<const LaneId> lanes, Timestamp now,
                             const LaneLimits::LaneOf& lane_of) {
    std::vector<MeterId> ids;
    std::vector<Permit> unseen;
    for (const LaneId lane : lanes) {
        if (ids.size() >= looked_at_once) break;
        const Permits permits = cluster_.limits.permits_of(lane, lane_of(lane), rules());
        if (!permits) continue;
        for (const Permit& permit : *permits) {
            if (permit.meter == 0 || meters_.contains(permit.meter)) continue;
            if (!looked_at_.insert(permit.meter).second) continue;
            ids.push_back(permit.meter);
            unseen.push_back(permit);
            closed_.insert(permit.meter);
            cluster_.limits.close(permit, rules(), never);
        }
    }
    const std::vector<MeterState> states = read_meters(connection_, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const Room room = room_of(*unseen[i].rule, states[i], meter_time(now));
        if (room.count > 0) {
            closed_.erase(ids[i]);
            cluster_.limits.open(ids[i]);
        } else if (room.look_again != never) {
            const Timestamp soon = now + shortest_look;
            cluster_.limits.close(unseen[i], rules(), std::max(room.look_again, soon));
        }
    }
}

void SessionPermits::leave_open(std::vector<LaneId>& lanes, Timestamp now,
                                const LaneLimits::LaneOf& lane_of) {
    cluster_.limits.leave_open(lanes, rules(), now, lane_of);
}

LaneLimits::Told SessionPermits::open_due(Timestamp now) {
    LaneLimits::Told told;
    for (ClosedMeters::Opened& meter : cluster_.limits.open_due(now, told)) {
        opened_.push_back(std::move(meter));
    }
    return told;
}

// ── giving back ──

void SessionPermits::net_return(Meter& meter, int count) {
    meter.taken.count -= count;
    meter.row.state.active -= count;
}

// A meter that is locked here has nothing to wait for.
void SessionPermits::give_back(const JobSpec& spec) {
    if (rules()->empty()) return;
    if (!given_lane_ || !is_same_lane(*given_lane_, spec)) {
        given_lane_ = lane_of(spec);
        given_permits_ =
            std::make_shared<const std::vector<Permit>>(rules()->permits_of(*given_lane_));
    }
    for (const Permit& permit : *given_permits_) {
        if (!permit.rule->max_active) continue;
        ++all_returns_[permit.meter];
        const auto locked = meters_.find(permit.meter);
        if (locked != meters_.end()) {
            net_return(locked->second, 1);
        } else {
            ++returns_[permit.meter];
        }
    }
}

void SessionPermits::flush() {
    if (!returns_.empty()) {
        TableRows<tables::permit_return_table> given;
        for (const auto& [meter, count] : std::exchange(returns_, {})) {
            given.add(tables::PermitReturn{.meter = meter, .seat = seat_, .given = count});
        }
        connection_.send(sql::return_permits, Params(given));
        writes_.note_written();
    }
    TableChanges<tables::meter_table> rows;
    for (auto& [id, meter] : meters_) {
        const bool is_as_stored = meter.taken.count == meter.stored_taken.count &&
                                  meter.row.state.full_at_ns == meter.stored.full_at_ns &&
                                  meter.row.state.owed_until_ns == meter.stored.owed_until_ns &&
                                  meter.row.state.starts == meter.stored.starts;
        if (is_as_stored) continue;
        rows.add(meter.row, meter.taken);
        meter.stored = meter.row.state;
        meter.stored_taken = meter.taken;
    }
    if (rows.empty()) return;
    connection_.send(sql::update_meters, Params(rows));
    writes_.note_written();
}

LaneLimits::Told SessionPermits::committed(Timestamp now) {
    is_committed_ = true;
    cluster_.limits.know(added_);
    cluster_.limits.tell_refused(refused_);
    LaneLimits::Told told = cluster_.limits.take_opened();
    if (!all_returns_.empty()) {
        cluster_.limits.tell_returned(all_returns_);
        for (const auto& [lane, count] : cluster_.limits.returned(all_returns_, now)) {
            told[lane] += count;
        }
    }
    for (const auto& [lane, count] : passed_over_) told[lane] += count;
    return told;
}

}  // namespace sluice::postgres
