#include "infrastructure/postgres/store/claim_keys.hpp"

#include <algorithm>

#include "infrastructure/postgres/schema/write_queries.hpp"

namespace sluice::postgres {

std::vector<bool> ClaimKeys::hold(std::span<Candidate> candidates) {
    std::vector<bool> granted(candidates.size(), true);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].keys.empty()) continue;
        granted[i] = false;
        open.push_back(i);
    }
    if (!open.empty()) work_.permits.keys_were_touched();
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
std::vector<bool> ClaimKeys::try_to_hold(std::span<Candidate*> candidates,
                                         std::vector<Key>& missing) {
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
std::set<ClaimKeys::Key> ClaimKeys::lock_held(const std::vector<Key>& keys) {
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

void ClaimKeys::park(const Candidate& candidate, const Key& at) {
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

void ClaimKeys::send_parked() {
    if (parking_.empty()) return;
    work_.connection.send(sql::park, Params(parking_));
    parking_.clear();
}

}  // namespace sluice::postgres
