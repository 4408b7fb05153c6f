#include "checker/limit_versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice::checker {
namespace {

constexpr std::array<const char*, 4> fields{"tenant", "type", "queue", "source"};
constexpr Span cut_off = std::chrono::milliseconds(1);  // times of the history are cut off

std::string value_of(const Job& job, const std::string& field) {
    return field == "tenant" ? job.tenant() : text(job.fields, field);
}

bool fits(const std::string& pattern, const std::string& name) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

// A process that writes its store alone notes the times of its commits, and no other order.
bool is_of_one_node(const Limits& limits) {
    return limits.starts_renew_leases;
}

// When changes with these reasons were requested first, and answered first.
struct Requests {
    std::map<std::string, Time> sent{};
    std::map<std::string, Time> answered{};

    explicit Requests(const Evidence& evidence) {
        for (const Operation& operation : evidence.operations) {
            if (operation.op != "change_limit") continue;
            const std::string reason = text(operation.args, "reason");
            sent.try_emplace(reason, operation.t0);
            if (operation.outcome != Outcome::ok) continue;
            Time& first = answered.try_emplace(reason, operation.t1).first->second;
            first = std::min(first, operation.t1);
        }
    }
};

// A quota holds until the engine lifts it, which is a change of its own.
void end_by_itself(LimitVersion& version, const Limits& limits) {
    if (!version.terms.until || version.terms.kind == "quota") return;
    const Time until = *version.terms.until;
    version.certain.until = std::min(version.certain.until, until - limits.clocks);
    version.possible.until =
        std::min(version.possible.until, until + cut_off + limits.slack + limits.clocks);
}

bool is_quota_of_all(const LimitTerms& terms) {
    return terms.kind == "quota" && terms.profile.empty() && !terms.scope.contains("tenant");
}

std::string type_of(const LimitTerms& terms) {
    const auto found = terms.scope.find("type");
    return found == terms.scope.end() ? std::string() : found->second;
}

// A tenant with a quota of its own, or of its profile, has no other one for the same type. Who had
// which profile is not looked at.
void except_tenants(std::vector<LimitVersion>& versions) {
    for (LimitVersion& general : versions) {
        if (!is_quota_of_all(general.terms)) continue;
        for (const LimitVersion& own : versions) {
            const auto tenant = own.terms.scope.find("tenant");
            const bool is_of_some = tenant != own.terms.scope.end() || !own.terms.profile.empty();
            if (own.terms.kind != "quota" || !is_of_some) continue;
            if (type_of(own.terms) != type_of(general.terms)) continue;
            general.excepted.emplace(
                tenant == own.terms.scope.end() ? std::string() : tenant->second, own.possible);
        }
    }
}

// When clients knew of steps of jobs.
class Sightings {
  public:
    explicit Sightings(const Evidence& evidence) {
        for (const Operation& operation : evidence.operations) {
            if (operation.outcome != Outcome::ok) continue;
            const std::string id = text(operation.result, "id");
            const std::int64_t revision = number(operation.result, "revision");
            if (revision > 0 && evidence.find(id) != nullptr) note(id, revision, operation.t1);
        }
        for (const auto& [id, lease] : evidence.leases) {
            if (lease.given == nullptr || lease.claimed == nullptr) continue;
            note(job_in(id), lease.claimed->seq, lease.given->t1);
        }
    }

    // The earliest at which one knew of this step of a job, or of a later one.
    Time first_of(const std::string& job, std::int64_t seq) const {
        Time first = Time::max();
        const auto known = seen_.find(job);
        if (known == seen_.end()) return first;
        for (auto at = known->second.lower_bound(seq); at != known->second.end(); ++at) {
            first = std::min(first, at->second);
        }
        return first;
    }

  private:
    void note(const std::string& job, std::int64_t seq, Time at) {
        Time& first = seen_[job].try_emplace(seq, at).first->second;
        first = std::min(first, at);
    }

    std::map<std::string, std::map<std::int64_t, Time>> seen_{};  // by job and number of the step
};

// A lease that was closed at this time by the engine's clock was open until then.
Time certain_end(const Lease& lease, const Limits& limits) {
    if (lease.closed == nullptr) return Time::max();
    Time end = lease.closed->at - limits.clocks;
    std::optional<Time> first_end;
    for (const Operation* said : lease.spoken) {
        if (said->gives_the_lease_up() && !first_end) first_end = said->t0;
        if (said->outcome == Outcome::ok) end = std::max(end, first_end.value_or(said->t0));
    }
    return end;
}

Time latest_end(const Lease& lease, const Sightings& seen, const Limits& limits) {
    if (lease.closed == nullptr) return Time::max();
    Time end = std::min(lease.closed->at + cut_off + limits.slack + limits.clocks,
                        seen.first_of(job_in(lease.id), lease.closed->seq));
    for (const Operation* said : lease.spoken) {
        if (said->gives_the_lease_up() && said->outcome == Outcome::ok)
            end = std::min(end, said->t1);
    }
    return end;
}

// A session notes the time at which it began. Where several nodes share a store, it may have to
// wait for another one, which stands still, before it commits: then only what clients saw tells by
// when it has.
Interval commit_of(const Lease& lease, const Sightings& seen, const Limits& limits) {
    const Time at = lease.claimed->at;
    const Time until = lease.given != nullptr ? lease.given->t1 : Time::max();
    Interval commit{at - limits.clocks,
                    std::min(until, seen.first_of(job_in(lease.id), lease.claimed->seq))};
    if (lease.given != nullptr) commit.from = std::max(commit.from, lease.given->t0);
    if (lease.given == nullptr && is_of_one_node(limits)) {
        commit.until = std::min(commit.until, at + cut_off + limits.slack + limits.clocks);
    }
    return commit;
}

}  // namespace

// An answer tells of the first change for its reason: the network may have repeated the request
// later.
std::vector<Interval> commits_of_changes(const Evidence& evidence, const Limits& limits) {
    const Requests requests(evidence);
    std::vector<Interval> commits;
    std::set<std::string> seen;
    for (const LimitChange& change : evidence.limit_changes) {
        Interval commit{Time::min(), Time::max()};
        const auto sent = requests.sent.find(change.reason);
        const auto answered = requests.answered.find(change.reason);
        if (sent != requests.sent.end()) commit.from = sent->second;
        const bool is_first = seen.insert(change.reason).second;
        if (is_first && answered != requests.answered.end()) commit.until = answered->second;
        if (is_of_one_node(limits)) {
            commit.from = std::max(commit.from, change.at - limits.clocks);
            commit.until =
                std::min(commit.until, change.at + cut_off + limits.slack + limits.clocks);
        }
        commits.push_back(commit);
    }
    for (std::size_t i = 1; i < commits.size(); ++i) {
        commits[i].from = std::max(commits[i].from, commits[i - 1].from);
    }
    for (std::size_t i = commits.size(); i-- > 1;) {
        commits[i - 1].until = std::min(commits[i - 1].until, commits[i].until);
    }
    return commits;
}

LimitTerms read_terms(const Json& attributes) {
    LimitTerms terms{.kind = text(attributes, "kind"), .profile = text(attributes, "profile")};
    for (const char* field : fields) {
        const std::string pattern = text(attributes, field);
        if (!pattern.empty()) terms.scope[field] = pattern;
    }
    for (const Json& field : list(attributes, "per")) terms.per.emplace(field.as_string());
    if (const auto max = number(attributes, "max_active"); max > 0) terms.max_active = max;
    if (const auto count = number(attributes, "rate_count"); count > 0) {
        terms.rate = {.count = count,
                      .period = std::chrono::milliseconds(number(attributes, "rate_period_ms")),
                      .burst = number(attributes, "rate_burst"),
                      .whole_hour = flag(attributes, "rate_whole_hour")};
    }
    terms.paused = flag(attributes, "paused");
    terms.refuses_submits = flag(attributes, "refuses_submits");
    const std::string until = text(attributes, "until");
    if (!until.empty()) terms.until = parse_time(until);
    return terms;
}

bool LimitVersion::may_cover(const Job& job) const {
    return std::all_of(terms.scope.begin(), terms.scope.end(), [&](const auto& part) {
        return fits(part.second, value_of(job, part.first));
    });
}

std::vector<Interval> LimitVersion::exceptions_of(const std::string& tenant) const {
    std::vector<Interval> all;
    for (const std::string& name : {tenant, std::string()}) {
        const auto [first, last] = excepted.equal_range(name);
        for (auto other = first; other != last; ++other) all.push_back(other->second);
    }
    return all;
}

bool LimitVersion::covers(const Job& job, const Interval& time) const {
    if (!terms.profile.empty() || !may_cover(job)) return false;
    const std::vector<Interval> others = exceptions_of(job.tenant());
    return std::none_of(others.begin(), others.end(),
                        [&](const Interval& other) { return other.touches(time); });
}

bool LimitVersion::may_be_of(const std::string& tenant) const {
    const auto scope = terms.scope.find("tenant");
    return scope == terms.scope.end() || fits(scope->second, tenant);
}

std::ptrdiff_t LimitVersion::exceptions_before(const Job& job, Time at) const {
    const std::vector<Interval> others = exceptions_of(job.tenant());
    return std::count_if(others.begin(), others.end(),
                         [&](const Interval& other) { return other.until < at; });
}

std::string LimitVersion::meter_of(const Job& job) const {
    std::string meter = limit;
    for (const std::string& field : terms.per) {
        meter += fmt::format(", {} {}", field, value_of(job, field));
    }
    return meter;
}

std::vector<LimitVersion> limit_versions(const Evidence& evidence, const Limits& limits) {
    const std::vector<Interval> commits = commits_of_changes(evidence, limits);
    std::vector<LimitVersion> versions;
    std::map<std::string, std::size_t> current;  // by limit
    for (std::size_t i = 0; i < commits.size(); ++i) {
        const LimitChange& change = evidence.limit_changes[i];
        const bool is_lifted = change.after.is_null();
        const LimitTerms terms = is_lifted ? LimitTerms{} : read_terms(change.after);
        const auto before = current.find(change.limit);
        if (before != current.end()) {
            LimitVersion& last = versions[before->second];
            if (!is_lifted && last.terms == terms) continue;
            last.certain.until = commits[i].from;
            last.possible.until = commits[i].until;
            current.erase(before);
        }
        if (is_lifted) continue;
        current[change.limit] = versions.size();
        versions.push_back({.limit = change.limit,
                            .terms = terms,
                            .certain = {commits[i].until, Time::max()},
                            .possible = {commits[i].from, Time::max()}});
    }
    for (LimitVersion& version : versions) end_by_itself(version, limits);
    except_tenants(versions);
    return versions;
}

std::vector<Start> all_starts(const Evidence& evidence, const Limits& limits) {
    const Sightings seen(evidence);
    std::vector<Start> starts;
    for (const auto& [id, lease] : evidence.leases) {
        const Job* job = evidence.job_of(lease);
        if (job == nullptr || lease.claimed == nullptr) continue;
        starts.push_back({.lease = &lease,
                          .job = job,
                          .commit = commit_of(lease, seen, limits),
                          .open_until = certain_end(lease, limits),
                          .gone_by = latest_end(lease, seen, limits)});
    }
    std::sort(starts.begin(), starts.end(),
              [](const Start& a, const Start& b) { return a.commit.until < b.commit.until; });
    return starts;
}

}  // namespace sluice::checker
