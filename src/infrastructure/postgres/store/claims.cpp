#include "infrastructure/postgres/store/claims.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "infrastructure/postgres/schema/read_queries.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/sql/job_rows.hpp"

namespace sluice::postgres {
namespace {

// The more of the jobs seen so far had to be parked, the more are read next.
constexpr int page_max = 500;
// A claim whose jobs come after more parked ones than this is served by the next session, which
// goes on where this one ended: the other claims of the batch must not wait for all of them.
constexpr std::size_t parked_max = 2000;

bool overlap(const std::vector<LaneId>& a, const std::vector<LaneId>& b) {
    for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
        if (*left == *right) return true;
        *left < *right ? ++left : ++right;
    }
    return false;
}

// The ids in the rows of sql::take and sql::take_queue_rows.
std::vector<JobId> ids_of_rows(std::span<const Result> results) {
    std::vector<JobId> ids;
    for (const Result& rows : results) {
        for (int i = 0; i < rows.rows(); ++i) {
            Row row(rows, i);
            row.skip(4);
            ids.push_back(JobId{row.integer()});
        }
    }
    return ids;
}

bool is_of_lane(const JobSpec& spec, const Lane& lane, LaneId id) {
    const bool is_same = spec.tenant == lane.tenant && spec.queue == lane.queue &&
                         spec.type == lane.type && spec.labels == lane.labels &&
                         spec.source == lane.source;
    return is_same || lane_id(lane_of(spec)) == id;
}

}  // namespace

std::vector<std::vector<Job>> Claims::take(std::span<const LeaseStore::Wanted> wanted,
                                           Timestamp now) {
    now_ = now;
    std::vector<Demand> demands = gather(wanted);
    serve(demands);
    std::vector<std::vector<Job>> taken(wanted.size());
    for (Demand& demand : demands) {
        auto next = std::make_move_iterator(demand.taken.begin());
        for (const std::size_t index : demand.indexes) {
            const auto left = std::make_move_iterator(demand.taken.end()) - next;
            const auto count = std::min<std::ptrdiff_t>(wanted[index].limit, left);
            taken[index].assign(next, next + count);
            next += count;
        }
    }
    return taken;
}

// Those that rules do not hold back, as far as this node knows.
std::vector<LaneId> Claims::open_lanes(const ClaimFilter& filter) const {
    std::vector<LaneId> lanes = work_.matching_lanes(filter);
    leave_open(lanes);
    return lanes;
}

void Claims::leave_open(std::vector<LaneId>& lanes) const {
    work_.permits.leave_open(lanes, now_, name_of_lanes());
}

LaneLimits::LaneOf Claims::name_of_lanes() const {
    return [this](LaneId lane) {
        const auto moved = moved_lanes_.find(lane);
        return moved == moved_lanes_.end() ? work_.lane(lane) : moved->second;
    };
}

// Claims with equal filters are served together, unless a claim between them could have got the
// same jobs.
std::vector<Claims::Demand> Claims::gather(std::span<const LeaseStore::Wanted> wanted) const {
    std::vector<Demand> demands;
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        const ClaimFilter& filter = *wanted[index].filter;
        Demand* joined = nullptr;
        std::vector<LaneId> lanes;
        bool is_known = false;
        for (auto earlier = demands.rbegin(); earlier != demands.rend() && !joined; ++earlier) {
            if (*earlier->filter == filter) {
                joined = &*earlier;
                break;
            }
            if (!is_known) {
                lanes = open_lanes(filter);
                is_known = true;
            }
            if (overlap(earlier->lanes, lanes)) break;
        }
        if (!joined) {
            if (!is_known) lanes = open_lanes(filter);
            joined = &demands.emplace_back(Demand{.filter = &filter, .lanes = std::move(lanes)});
        }
        joined->indexes.push_back(index);
        joined->open += std::max(wanted[index].limit, 0);
    }
    for (Demand& demand : demands) demand.page = demand.open;
    return demands;
}

// Demands that share lanes are served one after the other, all others at once.
void Claims::serve(std::span<Demand> demands) {
    const auto is_open = [](const Demand& demand) { return demand.open > 0 && !demand.exhausted; };
    for (;;) {
        std::vector<Demand*> together;
        for (Demand& demand : demands) {
            if (!is_open(demand)) continue;
            const bool apart = std::none_of(together.begin(), together.end(), [&](Demand* other) {
                return overlap(other->lanes, demand.lanes);
            });
            if (!apart) break;
            together.push_back(&demand);
        }
        if (keys_.parked() >= parked_max) {
            for (const Demand* demand : together) {
                for (const LaneId lane : demand->lanes) work_.ready(lane, demand->open);
            }
            return;
        }
        if (!together.empty()) {
            serve_together(together);
        } else if (!learn_new_lanes(demands)) {
            return;
        }
    }
}

void Claims::serve_together(std::span<Demand*> demands) {
    work_.settle_keys();
    work_.writes.flush();
    const bool without_rows = work_.cluster.recent.has_most();
    const Query query = without_rows ? Query(sql::take_queue_rows) : Query(sql::take);
    std::vector<Connection::Ticket> tickets;
    for (Demand* demand : demands) {
        tickets.push_back(work_.connection.post(query, Params(demand->lanes, demand->page)));
    }
    std::vector<Result> results;
    for (const Connection::Ticket ticket : tickets) {
        results.push_back(work_.connection.take(ticket));
    }
    const std::vector<JobId> ids = ids_of_rows(results);
    auto recent = work_.cluster.recent.take(ids, work_.submitted);
    std::optional<SubmittedJobs> submitted;
    if (without_rows) submitted = work_.complete(ids, std::move(recent));
    std::vector<std::vector<Candidate>> found;
    for (const Result& result : results) {
        found.push_back(read_candidates(result, submitted ? &*submitted : nullptr));
    }
    if (!work_.permits.rules()->empty()) lock_meters(found);
    for (std::size_t i = 0; i < demands.size(); ++i) {
        Demand& demand = *demands[i];
        demand.exhausted = static_cast<int>(found[i].size()) < demand.page;
        const std::size_t parked = keys_.parked();
        choose(demand, std::move(found[i]));
        const int more = keys_.parked() > parked ? std::min(demand.page * 4, page_max) : 0;
        demand.page = std::max(demand.open, more);
    }
}

// Another node may have made these lanes a moment ago.
bool Claims::learn_new_lanes(std::span<Demand> demands) {
    const bool wanted =
        std::any_of(demands.begin(), demands.end(), [](const Demand& d) { return d.open > 0; });
    if (!wanted) return false;
    if (!work_.learn_new_lanes()) return false;
    bool found = false;
    for (Demand& demand : demands) {
        std::vector<LaneId> lanes = open_lanes(*demand.filter);
        if (demand.open == 0 || lanes == demand.lanes) continue;
        demand.lanes = std::move(lanes);
        demand.exhausted = false;
        demand.page = demand.open;
        found = true;
    }
    return found;
}

// Reads each job from its row, unless it is handed in.
std::vector<Candidate> Claims::read_candidates(const Result& rows, SubmittedJobs* submitted) {
    std::vector<Candidate> candidates;
    candidates.reserve(static_cast<std::size_t>(rows.rows()));
    LaneId lane_id_of_last = 0;  // most claims take from one lane, which is looked up once then
    Lane lane;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        Candidate candidate;
        candidate.ctid = row.raw();
        candidate.lane = row.integer();
        const int priority = row.small();
        candidate.keys_text = row.text();
        split_texts(candidate.keys_text, candidate.keys);
        const JobId id{row.integer()};
        if (!submitted) {
            candidate.job = read_submitted(row);
        } else if (const auto job = submitted->find(id); job != submitted->end()) {
            candidate.job = std::move(job->second);
            if (!candidate.job.damage.empty()) row.note_damage(candidate.job.damage);
        } else {
            continue;  // its row in job was removed by hand
        }
        read_requeued(row, candidate.job);
        if (i == 0 || candidate.lane != lane_id_of_last) {
            lane_id_of_last = candidate.lane;
            lane = work_.lane(candidate.lane);
        }
        const JobSpec& spec = candidate.job.spec;
        candidate.is_moved = spec.priority != priority || !is_of_lane(spec, lane, candidate.lane);
        if (candidate.is_moved) row.note_damage("place in the queue");
        candidate.job.damage = row.damage();
        candidate.permits_lane =
            candidate.is_moved ? lane_id(lane_of(candidate.job.spec)) : candidate.lane;
        newest_token_ = std::max(newest_token_, LeaseToken{row.integer()});
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

// A job whose row was changed by hand is not found in the queue when it ends, and is left there. It
// must not be taken, again and again, by claims that then cannot be committed.
void Claims::drop_ended(std::vector<Candidate>& candidates) {
    std::vector<JobId> moved;
    for (const Candidate& candidate : candidates) {
        if (candidate.is_moved) moved.push_back(candidate.job.spec->id);
    }
    if (moved.empty()) return;
    const Result found = work_.connection.ask(sql::find_ended, Params(moved));
    std::set<JobId> ended;
    for (int i = 0; i < found.rows(); ++i) ended.insert(JobId{Row(found, i).integer()});
    std::erase_if(candidates, [&](const Candidate& candidate) {
        if (!ended.contains(candidate.job.spec->id)) return false;
        work_.writes.delete_taken(candidate.ctid);
        return true;
    });
}

// Chooses jobs in order, as many as are wanted; jobs that must be parked, and those that rules hold
// back, are replaced by later ones.
void Claims::choose(Demand& demand, std::vector<Candidate> candidates) {
    drop_ended(candidates);
    const bool has_rules = !work_.permits.rules()->empty();
    auto rest = std::span(candidates);
    bool stepped_aside = false;
    while (demand.open > 0 && !rest.empty()) {
        const std::size_t count = std::min(rest.size(), static_cast<std::size_t>(demand.open));
        const auto some = rest.first(count);
        rest = rest.subspan(count);
        if (has_rules) {
            std::vector<Candidate> granted = permitted(some);
            stepped_aside |= take_some(demand, granted) || granted.size() < count;
        } else {
            stepped_aside |= take_some(demand, some);
        }
    }
    if (!held_back_.empty()) stepped_aside |= close_lanes(demand);
    if (stepped_aside) demand.exhausted = false;  // later jobs may come forward instead
    keys_.send_parked();
}

// Takes those that get their keys. Returns whether any was parked.
bool Claims::take_some(Demand& demand, std::span<Candidate> some) {
    const std::vector<bool> granted = keys_.hold(some);
    bool stepped_aside = false;
    for (std::size_t i = 0; i < some.size(); ++i) {
        if (!granted[i]) {
            stepped_aside = true;
            continue;
        }
        work_.permits.note_start(some[i].permits_lane, now_);
        work_.writes.delete_taken(some[i].ctid);
        demand.taken.push_back(std::move(some[i].job));
        --demand.open;
    }
    return stepped_aside;
}

// ── permits ──

// A damaged row may name another lane than the one in which the job waits. It is counted where its
// end will be, which knows the job alone.
void Claims::lock_meters(std::span<const std::vector<Candidate>> found) {
    std::vector<SessionPermits::NamedLane> lanes;
    std::set<LaneId> seen;
    for (const std::vector<Candidate>& candidates : found) {
        for (const Candidate& candidate : candidates) {
            if (!seen.insert(candidate.permits_lane).second) continue;
            lanes.push_back({candidate.permits_lane, lane_of(candidate.job.spec)});
            if (candidate.is_moved) moved_lanes_.emplace(lanes.back().id, lanes.back().lane);
        }
    }
    work_.permits.lock(lanes, now_);
}

// Those that may start together. They have their permits once they have their keys, too.
std::vector<Candidate> Claims::permitted(std::span<Candidate> some) {
    SessionPermits::Trial trial(work_.permits);
    std::vector<Candidate> granted;
    for (Candidate& candidate : some) {
        if (trial.start(candidate.permits_lane, now_)) {
            granted.push_back(std::move(candidate));
        } else {
            held_back_.emplace(candidate.permits_lane, candidate.lane);
        }
    }
    return granted;
}

// Leaves all lanes out of what follows whose meters have no room: where one has none, others may
// have none either, and each would cost a turn.
// Returns whether one that was held back may start jobs after all: a permit has come back, or one
// of its jobs had a permit and then was parked at a key.
bool Claims::close_lanes(Demand& demand) {
    std::vector<LaneId> refused;
    for (const auto& [lane, waits_in] : held_back_) refused.push_back(lane);
    work_.permits.close(refused, now_);
    std::vector<LaneId> open = refused;
    leave_open(open);
    std::erase_if(open, [&](LaneId lane) { return work_.permits.is_passed_over(lane); });
    for (const auto& [lane, waits_in] : held_back_) {
        if (!std::binary_search(open.begin(), open.end(), lane)) std::erase(demand.lanes, waits_in);
    }
    leave_open(demand.lanes);
    work_.permits.look_at(demand.lanes, now_, name_of_lanes());
    leave_open(demand.lanes);
    held_back_.clear();
    return !open.empty();
}

}  // namespace sluice::postgres
