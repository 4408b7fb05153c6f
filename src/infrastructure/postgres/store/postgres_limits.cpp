#include "infrastructure/postgres/store/postgres_limits.hpp"

#include <algorithm>

#include "application/limits/stored_rules.hpp"
#include "infrastructure/postgres/permits/meter_counts.hpp"
#include "infrastructure/postgres/schema/limit_queries.hpp"
#include "infrastructure/postgres/statements/limit_reader.hpp"

namespace sluice::postgres {
namespace {

bool counts_the_same(const LimitRule& a, const LimitRule& b) {
    return a.kind == b.kind && a.scope == b.scope && a.per == b.per && a.profile == b.profile &&
           a.max_active.has_value() == b.max_active.has_value();
}

// Rules whose meters count other leases from now on than before. Of the quotas of one job type a
// tenant has one, so that one which is added or goes moves leases from or to those that name no
// tenant.
std::set<std::string> recounted(const LimitRules& before, const LimitRules& after) {
    std::set<std::string> ids;
    std::set<std::string> types_of_quotas;
    const auto add_changed = [&](const LimitRules& from, const LimitRules& to) {
        for (const LimitRule& rule : from.all()) {
            const LimitRule* const other = to.find(rule.id);
            if (other && counts_the_same(rule, *other)) continue;
            if (rule.max_active) ids.insert(rule.id);
            if (rule.kind == LimitKind::quota) types_of_quotas.insert(rule.scope.type);
        }
    };
    add_changed(after, before);
    add_changed(before, after);
    const bool are_profiles_new = before.profiles() != after.profiles();
    for (const LimitRule& rule : after.all()) {
        if (rule.kind != LimitKind::quota || !rule.max_active || !rule.scope.tenant.empty())
            continue;
        if (are_profiles_new || types_of_quotas.contains(rule.scope.type)) ids.insert(rule.id);
    }
    return ids;
}

std::set<std::string> with_changed_rates(const LimitRules& before, const LimitRules& after) {
    std::set<std::string> ids;
    for (const LimitRule& rule : after.all()) {
        const LimitRule* const former = before.find(rule.id);
        if (former && former->rate && rule.rate && *former->rate != *rule.rate) ids.insert(rule.id);
    }
    return ids;
}

std::vector<std::string> texts_of(const std::set<std::string>& ids) {
    return {ids.begin(), ids.end()};
}

}  // namespace

std::vector<MeterState> PostgresLimits::meters(std::span<const MeterId> ids) {
    work_.permits.flush();
    return read_meters(work_.connection, ids);
}

// ── a change of the rules ──

// This session, too, must go by the newest rules.
void PostgresLimits::refuse_older_rules() {
    const Result newest = work_.connection.ask(sql::newest_rules);
    if (Row(newest, 0).integer() <= limit_rules()->version()) return;
    work_.cluster.limits.may_be_old();
    throw StoreConflict("the rules about what may run have changed meanwhile");
}

void PostgresLimits::shut_out_older_rules(std::int64_t version) {
    work_.connection.send(sql::lock_seats);
    work_.connection.send(sql::lock_all_seats);
    refuse_older_rules();
    work_.connection.send(sql::set_rules, Params(version));
    work_.writes.note_written();
}

// Meters that have leases are added before the seats are locked: a session that adds one as well is
// waited for. Then no other session's lease or return can be committed any more, and all that is
// committed is seen.
void PostgresLimits::count_anew(const LimitRules& before, const LimitRules& rules,
                                const std::set<std::string>& wanted, Timestamp now) {
    const std::vector<std::string> ids = texts_of(wanted);
    if (!ids.empty()) {
        TableRows<tables::meter_table> added;
        for (const auto& [id, meter] :
             count_meters(rules, leased_lanes(work_.connection), wanted)) {
            added.add(meter, tables::Taken{});
        }
        if (!added.empty()) work_.connection.send(sql::add_meters, Params(added));
        work_.connection.send(sql::lock_meters_of, Params(ids));
    }
    shut_out_older_rules(rules.version());
    if (ids.empty()) return;
    now += work_.permits
               .since_time_was_taken();  // other sessions have started jobs until a moment ago
    auto leased = count_meters(rules, leased_lanes(work_.connection), wanted);
    const Result known = work_.connection.ask(sql::meters_of, Params(ids));
    TableChanges<tables::meter_table> changed;
    for (int i = 0; i < known.rows(); ++i) {
        Row row(known, i);
        StoredMeter meter;
        tables::Taken taken;
        rows::read_row(row, tables::meter_table, std::tie(meter, taken));
        const std::int64_t given = row.integer();
        const auto found = leased.find(meter.id);
        taken.count = given + (found == leased.end() ? 0 : found->second.state.active);
        if (found != leased.end()) leased.erase(found);
        follow_rate(meter.rule, before, rules, meter.state, now);
        changed.add(meter, taken);
    }
    if (!changed.empty()) work_.connection.send(sql::update_meters, Params(changed));
    TableRows<tables::meter_table> added;
    for (const auto& [id, meter] : leased) added.add(meter, tables::Taken{meter.state.active});
    if (!added.empty()) work_.connection.send(sql::add_meters, Params(added));
}

void PostgresLimits::rules_written(Timestamp now) {
    const std::shared_ptr<const LimitRules> before = limit_rules();
    work_.writes.flush();
    const std::shared_ptr<const LimitRules> after = load_rules(reader_.entities(), before);
    std::set<std::string> concerned = recounted(*before, *after);
    concerned.merge(with_changed_rates(*before, *after));
    count_anew(*before, *after, concerned, now);
    work_.permits.go_by(after);
    changed_ = after;
}

std::vector<MeterDifference> PostgresLimits::check_meters(bool repair) {
    work_.writes.flush();
    const std::shared_ptr<const LimitRules> rules = limit_rules();
    const std::set<std::string> counting = counting_rules(*rules);
    const Result found = work_.connection.ask(sql::compare_meters);
    refuse_older_rules();
    std::map<MeterId, StoredMeter> meters;
    std::vector<LaneNow> leased;
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        const MeterId id = row.integer();
        std::string first = row.text();
        std::string second = row.text();
        std::string third = row.text();
        const std::int64_t count = row.integer();
        if (id == 0) {
            leased.push_back({.lane = {.tenant = std::move(first),
                                       .queue = std::move(second),
                                       .type = std::move(third),
                                       .source = row.text()},
                              .active = count});
        } else if (counting.contains(first)) {
            meters[id] = {.id = id, .rule = first, .name = second, .state = {.active = count}};
        }
    }
    std::vector<MeterDifference> differences;
    auto right = count_meters(*rules, leased, counting);
    for (auto& [id, meter] : meters) {
        const auto row = right.find(id);
        const std::int64_t active = row == right.end() ? 0 : row->second.state.active;
        if (active != meter.state.active) {
            differences.push_back({meter.rule, meter.name, meter.state.active, active});
        }
        if (row != right.end()) right.erase(row);
    }
    for (const auto& [id, meter] : right) {
        differences.push_back({meter.rule, meter.name, 0, meter.state.active});
    }
    if (repair && !differences.empty()) count_anew(*rules, *rules, counting, {});
    return differences;
}

std::vector<LaneNow> PostgresLimits::lanes(std::int64_t ready_max) {
    work_.writes.flush();
    std::vector<LaneNow> lanes = leased_lanes(work_.connection);
    const Result ready = work_.connection.ask(sql::lanes_now, Params(ready_max));
    for (int i = 0; i < ready.rows(); ++i) {
        Row row(ready, i);
        tables::LaneRow lane;
        rows::read_row(row, tables::lane_table, std::tie(lane));
        lanes.push_back({.lane = std::move(lane.lane), .ready = row.integer()});
    }
    return lanes;
}

// ── sources ──

// A source is known with the transaction; what it does is added up in this node
// (source_counts.hpp).
void PostgresLimits::count_sources(std::span<const SourceCount> counts, Timestamp now) {
    TableRows<tables::source_table> sources;
    for (const SourceCount& count : counts) {
        const KnownSources::Name name(count.tenant, count.source);
        add(work_.counted, {name, hour_of(now)}, count);
        if (!work_.cluster.sources.must_write(name, count.last_job_at)) continue;
        const auto [written, is_first] = written_sources_.try_emplace(name, count.last_job_at);
        if (!is_first && written->second >= count.last_job_at) continue;
        written->second = count.last_job_at;
        if (!work_.cluster.sources.has(name)) new_sources_.insert(name);
        sources.add(StoredSource{count.tenant, count.source, count.last_job_at},
                    tables::WrittenBy{seat_});
    }
    if (sources.empty()) return;
    work_.connection.send(sql::put_sources, Params(sources));
    work_.writes.note_written();
}

std::vector<SourceCount> PostgresLimits::sources(const std::string& tenant, Timestamp now) {
    const std::int64_t first_hour = first_hour_counted(now);
    CountedSources unwritten = work_.cluster.source_counts.get();
    add(unwritten, work_.counted);
    std::map<KnownSources::Name, std::vector<const SourceCount*>> more;
    for (const auto& [counted, count] : unwritten) {
        if (counted.hour >= first_hour) more[counted.source].push_back(&count);
    }
    std::vector<SourceCount> sources;
    const Result found = work_.connection.ask(sql::sum_up_sources, Params(first_hour, tenant));
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        SourceCount& source = sources.emplace_back();
        source.tenant = row.text();
        source.source = row.text();
        source.last_job_at = row.maybe_time();
        source.submitted = row.integer();
        source.succeeded = row.integer();
        source.failed = row.integer();
        for (const SourceCount* count : more[{source.tenant, source.source}]) {
            source.submitted += count->submitted;
            source.succeeded += count->succeeded;
            source.failed += count->failed;
            source.last_job_at = std::max(source.last_job_at, count->last_job_at);
        }
    }
    return sources;
}

bool PostgresLimits::knows_source(const std::string& tenant, const std::string& source) {
    KnownSources& known = work_.cluster.sources;
    if (known.has({tenant, source}) || new_sources_.contains({tenant, source})) return true;
    const Result found = work_.connection.ask(sql::find_source, Params(tenant, source));
    if (!Row(found, 0).flag()) return false;
    known.found({tenant, source});
    return true;
}

std::int64_t PostgresLimits::count_of_sources(const std::string& tenant) {
    KnownSources& known = work_.cluster.sources;
    const std::int64_t own =
        std::count_if(new_sources_.begin(), new_sources_.end(),
                      [&](const KnownSources::Name& source) { return source.first == tenant; });
    const Timestamp now = work_.cluster.time.now();
    if (const auto others = known.count(tenant, now)) return *others + own;
    const Result found = work_.connection.ask(sql::sources_of_tenant, Params(tenant));
    const std::int64_t count = Row(found, 0).integer();
    known.counted(tenant, count - own, now);
    return count;
}

int PostgresLimits::forget_sources(Timestamp now, int limit) {
    work_.writes.flush();
    const std::int64_t first_hour = first_hour_counted(now);
    const Timestamp first_moment = first_moment_of(first_hour);
    const Result silent =
        work_.connection.ask(sql::find_silent_sources, Params(first_hour, first_moment));
    const std::shared_ptr<const LimitRules> rules = limit_rules();
    std::set<KnownSources::Name> active;  // which the tables do not show yet
    CountedSources unwritten = work_.cluster.source_counts.get();
    add(unwritten, work_.counted);
    for (const auto& [counted, count] : unwritten) {
        if (counted.hour >= first_hour) active.insert(counted.source);
    }
    std::vector<std::string> tenants;
    std::vector<std::string> sources;
    for (int i = 0; i < silent.rows() && std::ssize(sources) < limit; ++i) {
        Row row(silent, i);
        std::string tenant = row.text();
        std::string source = row.text();
        if (rules->names_source(tenant, source) || active.contains({tenant, source})) continue;
        forgotten_.emplace_back(tenant, source);
        tenants.push_back(std::move(tenant));
        sources.push_back(std::move(source));
    }
    if (sources.empty()) return 0;
    work_.connection.send(sql::forget_sources, Params(tenants, sources, first_moment));
    work_.writes.note_written();
    return static_cast<int>(sources.size());
}

void PostgresLimits::committed() {
    for (const auto& [source, last_job_at] : written_sources_) {
        work_.cluster.sources.written(source, last_job_at);
    }
    work_.cluster.source_counts.add(work_.counted, work_.cluster.time.now());
    for (const KnownSources::Name& source : forgotten_) work_.cluster.sources.forget(source);
    if (changed_) work_.cluster.limits.set(changed_, work_.seen);
}

}  // namespace sluice::postgres
