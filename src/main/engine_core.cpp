#include "main/engine_core.hpp"

#include <random>

#include "client/runner/runner.hpp"
#include "config/show.hpp"
#include "infrastructure/postgres/store/postgres_store.hpp"
#include "operator/configured_limits.hpp"
#include "operator/open_store.hpp"

namespace sluice {
namespace {

ByType settings_of_contracts(const Config& config) {
    ByType settings;
    settings.put(deploy::PlacementRules{config.deploy.placement, config.deploy.node_health});
    return settings;
}

}  // namespace

EngineCore::EngineCore(const Config& config, Telemetry& telemetry, Committer::Deliver deliver)
    : rules_{config.job_types, config.entity_kinds,
             SecretMarks(config.secret_names, config.job_types),
             Redactor::of_settings(secrets_of(config)), settings_of_contracts(config)} {
    if (is_postgres(config.store)) {
        open_shared(config, telemetry);
    } else {
        clock_ = std::make_unique<SystemClock>();
        stores_.push_back(open_store(config.store, clock_->now(),
                                     static_cast<std::size_t>(config.store_reserve)));
    }
    delays_.emplace(*clock_);
    const Announcement news =
        apply_configured_limits(config.governance, *stores_.front(), rules_, *clock_);
    std::vector<Committer*> committers;
    for (const auto& store : stores_) {
        Engine& engine = engines_.emplace_back(
            *store, Engine::Options{.node = config.node,
                                    .sweeps = engines_.empty(),
                                    .seed = std::random_device()(),
                                    .idempotency_memory = config.idempotency_memory,
                                    .retention = retention_of(config),
                                    .rules = &rules_,
                                    .delays = &*delays_,
                                    .clock = clock_.get(),
                                    .published = &published_});
        committers_.push_back(
            std::make_unique<Committer>(engine, *clock_, telemetry, deliver, watch_.get()));
        committers.push_back(committers_.back().get());
    }
    pool_ = std::make_unique<CommitterPool>(std::move(committers));
    if (!watch_) return;
    watch_->start([this](std::vector<Readied> readied, Timestamp due) {
        pool_->hint(std::move(readied), due);
    });
    watch_->announce(news);
}

void EngineCore::open_shared(const Config& config, Telemetry& telemetry) {
    cluster_ =
        std::make_shared<postgres::Cluster>(database_of(config), client::default_worker_id());
    cluster_->has_watch = true;
    for (int i = 0; i < config.committers; ++i) {
        stores_.push_back(std::make_unique<PostgresStore>(cluster_));
    }
    clock_ = std::make_unique<SystemClock>([cluster = cluster_] { return cluster->time.now(); },
                                           since_boot, SystemClock::cluster_steps_from);
    const std::string& direct = config.store_direct.empty() ? config.store : config.store_direct;
    watch_ = std::make_unique<postgres::Watch>(
        *cluster_, postgres::Watch::Options{
                       .listen_url = direct,
                       .retention = retention_of(config),
                       .on_duty = [&telemetry](const DutyRun& run) { telemetry.ran(run); }});
}

// No hint reaches a committer that is being destroyed.
EngineCore::~EngineCore() {
    if (watch_) watch_->stop();
}

}  // namespace sluice
