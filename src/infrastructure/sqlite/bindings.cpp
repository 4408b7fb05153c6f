#include "infrastructure/sqlite/bindings.hpp"

namespace sluice::sqlite {
namespace {

auto binder(Statement& statement, int place) {
    return [&statement, place](const auto&... values) { statement.bind_from(place, values...); };
}

auto runner(Statement& statement) {
    return [&statement](const auto&... values) { statement.with(values...).run_on_one_row(); };
}

}  // namespace

void bind_job(Statement& insert, int place, const Job& job, const JobTexts& texts) {
    write_job(binder(insert, place), job, texts, job.spec->depends_on.size());
}

void bind_requeued(Statement& insert, int place, const Job& job) {
    write_requeued(binder(insert, place), job);
}

void bind_lease(Statement& insert, int place, const Job& job) {
    write_lease(binder(insert, place), job);
}

void bind_done(Statement& insert, int place, const Job& job) {
    write_done(binder(insert, place), job);
}

void bind_event(Statement& insert, int place, const Event& event) {
    write_event(binder(insert, place), event);
}

void bind_line(Statement& insert, int place, const LogLine& line) {
    write_line(binder(insert, place), line);
}

void bind_entity_event(Statement& insert, int place, const EntityEvent& event) {
    write_entity_event(binder(insert, place), event);
}

void update_lease(Statement& update, const Job& job) {
    write_lease_change(runner(update), job);
}

void update_done(Statement& update, const Job& job) {
    write_done_change(runner(update), job);
}

void put_entity(Statement& put, const Entity& entity) {
    const std::string attributes = to_json(entity.attributes);
    write_entity(runner(put), entity, attributes);
}

}  // namespace sluice::sqlite
