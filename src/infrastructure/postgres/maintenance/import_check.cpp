#include "infrastructure/postgres/maintenance/import_check.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "application/audit/verify_history.hpp"
#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/statements/transaction_reader.hpp"

namespace sluice::postgres {
namespace {

constexpr int compared_page = 500;

constexpr Query count_all{"", R"sql(
SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM event),
    (SELECT count(*) FROM log), (SELECT count(*) FROM idempotency),
    (SELECT count(*) FROM entity), (SELECT count(*) FROM entity_event))sql"};

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error("the copy is not the same as its source, and is given up: " + what);
}

// `copy` is where the history of the copy breaks; `source`, where that of its source does, if so.
[[noreturn]] void fail_chain(const HistoryBreak& copy, const std::optional<HistoryBreak>& source) {
    const std::string what = fmt::format("{} event {}: {}", subject_of(copy), copy.seq, copy.what);
    if (!source) fail(what);
    throw std::runtime_error("the source is damaged, and nothing is copied: " + what +
                             "; sluice audit verify --store FROM names all that is damaged");
}

void check_counts(Connection& connection, const Imported& copied) {
    const Result counted = connection.ask(count_all);
    Row row(counted, 0);
    Imported there{.jobs = row.integer(), .events = row.integer()};
    there.lines = row.integer();
    there.requests = row.integer();
    there.entities = row.integer();
    there.entity_events = row.integer();
    if (there != copied) {
        fail(fmt::format(
            "{} of {} jobs, {} of {} events, {} of {} log lines, {} of {} keys, {} of {} entities, "
            "{} of {} of their events",
            there.jobs, copied.jobs, there.events, copied.events, there.lines, copied.lines,
            there.requests, copied.requests, there.entities, copied.entities, there.entity_events,
            copied.entity_events));
    }
}

void check_lines(JobReader& source, JobReader& copy, JobId job) {
    for (std::int64_t last = 0;;) {
        const std::vector<LogLine> lines = source.logs(job, last, compared_page);
        if (lines != copy.logs(job, last, compared_page)) {
            fail(fmt::format("job {}: log lines after {} differ", to_text(job), last));
        }
        if (lines.empty()) return;
        last = lines.back().seq;
    }
}

void check_chain(JobReader& source, JobReader& copy, const Job& job, std::int64_t& events) {
    const std::optional<HistoryBreak> broken = verify_job(copy, job, events);
    if (broken) fail_chain(*broken, verify_job(source, job, events));
}

void check_entity_events(EntityReader& source, EntityReader& copy, const EntityKey& key) {
    for (std::int64_t last = 0;;) {
        const std::vector<EntityEvent> events = source.events(key, last, compared_page);
        if (events != copy.events(key, last, compared_page)) {
            fail(fmt::format("{}: events after {} differ", to_text(key), last));
        }
        if (events.empty()) return;
        last = events.back().seq;
    }
}

void check_chain(EntityReader& source, EntityReader& copy, const Entity& entity) {
    std::int64_t events = 0;
    bool covered = true;
    const std::optional<HistoryBreak> broken = verify_entity(copy, entity, events, covered);
    if (broken) fail_chain(*broken, verify_entity(source, entity, events, covered));
}

void check_entities(EntityReader& source, EntityReader& copy) {
    const EntityFilter all{.tenant = ""};
    for (std::int64_t before = newest_entity;;) {
        const std::vector<Entity> entities = source.list(all, before, 0, compared_page);
        if (entities != copy.list(all, before, 0, compared_page)) {
            fail(fmt::format("entities with numbers below {} differ", before));
        }
        if (entities.empty()) return;
        for (const Entity& entity : entities) {
            check_entity_events(source, copy, entity.key);
            check_chain(source, copy, entity);
        }
        before = entities.back().number;
    }
}

void check_jobs(JobReader& source, JobReader& copy,
                const std::function<void(const Imported&)>& on_page) {
    Imported checked;
    for (JobId last{};;) {
        const std::vector<JobId> ids = source.ids_after(last, compared_page);
        if (ids.empty()) return;
        const std::vector<std::optional<Job>> jobs = source.find(ids);
        const std::vector<std::optional<Job>> copies = copy.find(ids);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (copies[i] != jobs[i]) fail(fmt::format("job {} differs", to_text(ids[i])));
            if (copies[i]->now.log_seq > 0) check_lines(source, copy, ids[i]);
            checked.lines += copies[i]->now.log_seq;
            check_chain(source, copy, *copies[i], checked.events);
        }
        checked.jobs += static_cast<std::int64_t>(ids.size());
        on_page(checked);
        last = ids.back();
    }
}

template <const auto& table, class Stored>
std::vector<Stored> read_all(Connection& connection) {
    static constexpr auto text = "SELECT " + rows::read_columns<table> + " FROM " +
                                 rows::table_name<table> + " ORDER BY " + rows::key_columns<table>;
    const Result found = connection.ask({"", text.view()});
    std::vector<Stored> stored(static_cast<std::size_t>(found.rows()));
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        rows::read_row(row, table, std::tie(stored[static_cast<std::size_t>(i)]));
    }
    return stored;
}

// The copy may have more meters: those that count only what is active.
void check_limits(WholeStore& source, Connection& connection) {
    std::map<MeterId, StoredMeter> meters;
    for (StoredMeter& meter : read_all<rows::meter_table, StoredMeter>(connection)) {
        meters.emplace(meter.id, std::move(meter));
    }
    for (const StoredMeter& meter : source.meters()) {
        const auto copy = meters.find(meter.id);
        if (copy == meters.end() || copy->second != meter) {
            fail(fmt::format("the bucket {} of rule {} differs", meter.name, meter.rule));
        }
    }
    if (read_all<rows::source_table, StoredSource>(connection) != source.sources() ||
        read_all<rows::source_hour_table, StoredSourceHour>(connection) != source.source_hours()) {
        fail("the sources differ");
    }
}

}  // namespace

void check_import(WholeStore& source, Connection& connection, const Imported& copied,
                  const std::function<void(const Imported&)>& on_page) {
    check_counts(connection, copied);
    WalkingReader copy(connection);
    check_jobs(source.jobs(), copy, on_page);
    check_entities(source.jobs().entities(), copy.entities());
    check_limits(source, connection);
}

}  // namespace sluice::postgres
