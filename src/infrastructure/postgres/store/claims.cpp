#include "infrastructure/postgres/store/claims.hpp"

#include <algorithm>

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
                         spec.type == lane.type && spec.labels == lane.labels;
    return is_same || lane_id(lane_of(spec)) == id;
}

}  // namespace

std::vector<std::vector<Job>> Claims::take(std::span<const LeaseStore::Wanted> wanted) {
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
                lanes = work_.matching_lanes(filter);
                is_known = true;
            }
            if (overlap(earlier->lanes, lanes)) break;
        }
        if (!joined) {
            if (!is_known) lanes = work_.matching_lanes(filter);
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
        if (parked_ >= parked_max) {
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
    for (std::size_t i = 0; i < demands.size(); ++i) {
        Demand& demand = *demands[i];
        demand.exhausted = static_cast<int>(found[i].size()) < demand.page;
        choose(demand, std::move(found[i]));
        demand.page = std::max(demand.open, std::min(demand.page * 4, page_max));
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
        std::vector<LaneId> now = work_.matching_lanes(*demand.filter);
        if (demand.open == 0 || now == demand.lanes) continue;
        demand.lanes = std::move(now);
        demand.exhausted = false;
        demand.page = demand.open;
        found = true;
    }
    return found;
}

// Reads each job from its row, unless it is handed in.
std::vector<Claims::Candidate> Claims::read_candidates(const Result& rows,
                                                       SubmittedJobs* submitted) {
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

// Chooses jobs in order, as many as are wanted; jobs that must be parked are replaced by later
// ones.
void Claims::choose(Demand& demand, std::vector<Candidate> candidates) {
    drop_ended(candidates);
    auto rest = std::span(candidates);
    bool stepped_aside = false;
    while (demand.open > 0 && !rest.empty()) {
        const std::size_t count = std::min(rest.size(), static_cast<std::size_t>(demand.open));
        const auto some = rest.first(count);
        rest = rest.subspan(count);
        const std::vector<bool> granted = hold_keys(some);
        for (std::size_t i = 0; i < count; ++i) {
            if (!granted[i]) {
                stepped_aside = true;
                continue;
            }
            work_.writes.delete_taken(some[i].ctid);
            demand.taken.push_back(std::move(some[i].job));
            --demand.open;
        }
    }
    if (stepped_aside) demand.exhausted = false;  // later jobs may come forward instead
    send_parked();
}

// Whether each candidate has all of its keys now. The others were parked.
std::vector<bool> Claims::hold_keys(std::span<Candidate> candidates) {
    std::vector<bool> granted(candidates.size(), true);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].keys.empty()) continue;
        granted[i] = false;
        open.push_back(i);
    }
    while (!open.empty()) {
        std::vector<std::size_t> later;
        std::vector<std::size_t> indexes;
        std::vector<Candidate*> trying;
        std::set<Key> tried;
        for (const std::size_t i : open) {
            Candidate& candidate = candidates[i];
            const std::string& tenant = candidate.job.spec->tenant;
            std::optional<Key> taken;
            bool clashes = false;
            for (const std::string& key : candidate.keys) {
                if (work_.taken_keys.contains({tenant, key})) taken = {tenant, key};
                clashes = clashes || tried.contains({tenant, key});
            }
            if (taken) {
                park(candidate, *taken);
            } else if (clashes) {
                later.push_back(i);  // behind a job that may get the key
            } else {
                for (const std::string& key : candidate.keys) tried.insert({tenant, key});
                trying.push_back(&candidate);
                indexes.push_back(i);
            }
        }
        if (!trying.empty()) {
            std::vector<Key> missing;
            const std::vector<bool> held = try_to_hold(trying, missing);
            const std::set<Key> really = lock_held(missing);
            for (std::size_t k = 0; k < trying.size(); ++k) {
                if (held[k]) {
                    granted[indexes[k]] = true;
                } else if (really.contains(missing[k])) {
                    park(*trying[k], missing[k]);
                } else {
                    later.push_back(indexes[k]);  // the key was freed meanwhile
                }
            }
        }
        std::sort(later.begin(), later.end());
        open = std::move(later);
    }
    return granted;
}

// A candidate that gets all of its keys keeps them; one that does not frees those that it got.
// `missing` has the first key that each of them did not get.
std::vector<bool> Claims::try_to_hold(std::span<Candidate*> candidates, std::vector<Key>& missing) {
    TableRows<tables::held_table> wanted;
    for (const Candidate* candidate : candidates) {
        for (const std::string& key : candidate->keys) {
            const JobSpec& spec = candidate->job.spec;
            wanted.add(tables::HeldKey{spec.tenant, key, spec.id});
        }
    }
    const Result got = work_.connection.ask(sql::hold_keys, Params(wanted));
    work_.writes.note_written();
    std::set<std::pair<JobId, std::string>> held;
    for (int i = 0; i < got.rows(); ++i) {
        Row row(got, i);
        const JobId id{row.integer()};
        held.emplace(id, row.text());
    }
    std::vector<bool> granted;
    TableKeys<tables::held_table> returned;
    missing.resize(candidates.size());
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        const Job& job = candidates[k]->job;
        const std::vector<std::string>& keys = candidates[k]->keys;
        const auto absent = std::find_if(keys.begin(), keys.end(), [&](const std::string& key) {
            return !held.contains({job.spec->id, key});
        });
        granted.push_back(absent == keys.end());
        if (absent != keys.end()) missing[k] = {job.spec->tenant, *absent};
        for (const std::string& key : keys) {
            if (granted[k]) {
                work_.taken_keys.insert({job.spec->tenant, key});
            } else if (held.contains({job.spec->id, key})) {
                returned.add(tables::HeldKey{job.spec->tenant, key});
            }
        }
    }
    if (!returned.empty()) work_.connection.send(sql::let_keys_go, Params(returned));
    return granted;
}

// Those of the keys that a job holds, and goes on holding until this session ends.
std::set<Claims::Key> Claims::lock_held(const std::vector<Key>& keys) {
    TableKeys<tables::held_table> asked;
    for (const auto& [tenant, key] : std::set<Key>(keys.begin(), keys.end())) {
        if (!key.empty()) asked.add(tables::HeldKey{tenant, key});
    }
    std::set<Key> held;
    if (asked.empty()) return held;
    const Result found = work_.connection.ask(sql::lock_held, Params(asked));
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        std::string tenant = row.text();
        held.emplace(std::move(tenant), row.text());
    }
    return held;
}

void Claims::park(const Candidate& candidate, const Key& at) {
    const JobSpec& spec = candidate.job.spec;
    parking_.add(tables::QueueRow{.lane = candidate.lane,
                                  .priority = spec.priority,
                                  .id = spec.id,
                                  .keys = candidate.keys_text,
                                  .tenant = at.first,
                                  .key = at.second});
    ++parked_;
    work_.writes.delete_taken(candidate.ctid);
    for (const std::string& key : candidate.keys) {
        if (key != at.second) work_.may_be_free(spec.tenant, key);
    }
}

void Claims::send_parked() {
    if (parking_.empty()) return;
    work_.connection.send(sql::park, Params(parking_));
    parking_.clear();
}

}  // namespace sluice::postgres
