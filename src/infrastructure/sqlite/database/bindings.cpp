#include "infrastructure/sqlite/database/bindings.hpp"

namespace sluice::sqlite {
namespace {

template <class Table, class Parts>
void bind_row(Statement& statement, int offset, const Table& table, const Parts& parts) {
    rows::write_row([&](const auto&... values) { statement.bind_from(offset, values...); }, table,
                    parts);
}

// All columns of a row, which replaces an existing one.
template <class Table, class Parts>
void put_row(Statement& statement, const Table& table, const Parts& parts) {
    rows::write_row([&](const auto&... values) { statement.with(values...).run(); }, table, parts);
}

// The changing columns of a row that must exist.
template <class Table, class Parts>
void update_row(Statement& statement, const Table& table, const Parts& parts) {
    using rows::Which;
    rows::write_row<Which::changing>(
        [&](const auto&... changed) {
            rows::write_row<Which::keys>(
                [&](const auto&... keys) { statement.with(changed..., keys...).run_on_one_row(); },
                table, parts);
        },
        table, parts);
}

}  // namespace

void bind_job(Statement& insert, int offset, const Job& job) {
    bind_row(insert, offset, tables::job_table, std::tie(*job.spec, job.now));
}

void bind_requeued(Statement& insert, int offset, const Job& job) {
    bind_row(insert, offset, tables::requeued_table, std::tie(*job.spec, job.now));
}

void bind_lease(Statement& insert, int offset, const Job& job) {
    bind_row(insert, offset, tables::lease_table, std::tie(*job.spec, job.now, *job.lease));
}

void bind_done(Statement& insert, int offset, const Job& job) {
    bind_row(insert, offset, tables::done_table, std::tie(*job.spec, job.now));
}

void bind_event(Statement& insert, int offset, const Event& event) {
    bind_row(insert, offset, tables::event_table, std::tie(event));
}

void bind_line(Statement& insert, int offset, const LogLine& line) {
    bind_row(insert, offset, tables::log_table, std::tie(line));
}

void bind_dependency(Statement& insert, int offset, const tables::Dependency& dependency) {
    bind_row(insert, offset, tables::dependency_table, std::tie(dependency));
}

void bind_entity_event(Statement& insert, int offset, const EntityEvent& event) {
    bind_row(insert, offset, tables::entity_event_table, std::tie(event));
}

void update_lease(Statement& update, const Job& job) {
    update_row(update, tables::lease_table, std::tie(*job.spec, job.now, *job.lease));
}

void update_done(Statement& update, const Job& job) {
    update_row(update, tables::done_table, std::tie(*job.spec, job.now));
}

void run_on_unfinished(Statement& statement, const JobSpec& spec) {
    put_row(statement, tables::unfinished_table, std::tie(spec));
}

void put_entity(Statement& put, const Entity& entity) {
    put_row(put, tables::entity_table, std::tie(entity));
}

void put_request(Statement& put, const IdempotentRequest& request) {
    put_row(put, tables::request_table, std::tie(request));
}

void put_meter(Statement& put, const StoredMeter& meter) {
    put_row(put, tables::meter_table, std::tie(meter));
}

void put_source(Statement& put, const StoredSource& source) {
    put_row(put, tables::source_table, std::tie(source));
}

void add_to_source_hour(Statement& add, const StoredSourceHour& hour) {
    put_row(add, tables::source_hour_table, std::tie(hour));
}

}  // namespace sluice::sqlite
