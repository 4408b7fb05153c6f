#include "operator/store_office.hpp"

#include <fmt/format.h>

#include <random>

#include "application/access/access_tokens.hpp"
#include "application/engine/engine.hpp"
#include "client/runner/runner.hpp"
#include "config/config_flags.hpp"
#include "infrastructure/postgres/store/postgres_store.hpp"
#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/system/random_secret.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/http/native/token_json.hpp"
#include "operator/open_store.hpp"

namespace sluice {
namespace {

using cli::CommandError;

// A user who can open the store could change it in any way; history names the host.
Caller host() {
    Caller caller;
    caller.any_tenant = true;
    caller.name = "host";
    caller.kind = CallerKind::service;
    caller.scopes = {Scope::admin};
    return caller;
}

cli::ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::not_found: return cli::exit_not_found;
        case ErrorCode::conflict: return cli::exit_conflict;
        case ErrorCode::unavailable: return cli::exit_unreachable;
        case ErrorCode::forbidden: return cli::exit_denied;
        default: return cli::exit_usage;
    }
}

CommandError failure_of(const Error& error) {
    const std::string field = error.pointer.empty() ? "" : error.pointer.substr(1) + ": ";
    return {exit_code_of(error.code), field + error.message};
}

class StoreOffice final : public cli::TokenOffice {
  public:
    explicit StoreOffice(const cli::StoreChoice& choice)
        : config_(make_config({.config = choice.config,
                               .store = choice.store,
                               .store_schema = choice.store_schema})) {
        if (config_.store == "memory:") {
            throw CommandError(cli::exit_usage,
                               "memory: is not kept on this machine; give sqlite:PATH or "
                               "postgres://…, or ask the engine with --server");
        }
    }

    std::string create(const std::string& body) override {
        const Timestamp now = clock_.now();
        const Caller by = host();
        auto wanted = http::native::read_new_token(body, by, now);
        if (!wanted) throw failure_of(wanted.error());
        const std::string secret = random_secret();
        wanted->secret = sha256(secret);
        const AccessToken token =
            decide([&](EntityChanges& changes) { return create_token(changes, by, *wanted); });
        return http::native::token_json(token, now, token_text(token.id, secret));
    }

    std::string list(const std::string& tenant) override {
        const auto reader = open_reader(config_);
        return http::native::token_list_json(
            list_tokens(reader->entities(), operator_caller, tenant), clock_.now());
    }

    std::string revoke(const std::string& id) override {
        const AccessToken token =
            decide([&](EntityChanges& changes) { return revoke_token(changes, host(), id); });
        return http::native::token_json(token, clock_.now(), "");
    }

  private:
    // One transaction. It does nothing else that an engine does, such as to look at leases.
    AccessToken decide(const std::function<Result<EntityAnswer>(EntityChanges&)>& action) {
        const std::unique_ptr<Store> store = open_for_writing();
        Engine engine(*store, {.node = config_.node,
                               .sweeps = false,
                               .seed = std::random_device()(),
                               .idempotency_memory = config_.idempotency_memory});
        std::optional<Result<EntityAnswer>> answer;
        Batch batch;
        batch.entity_actions.push_back({.items = {EntityAction{.decide = action}},
                                        .done = [&](std::vector<Result<EntityAnswer>> answers) {
                                            answer = std::move(answers.front());
                                        }});
        engine.run(batch, clock_.now());
        batch.deliver();
        if (!*answer) throw failure_of(answer->error());
        return read_token(*(*answer)->entity);
    }

    std::unique_ptr<Store> open_for_writing() {
        if (!is_postgres(config_.store)) return open_file();
        auto cluster =
            std::make_shared<postgres::Cluster>(database_of(config_), client::default_worker_id());
        return std::make_unique<PostgresStore>(std::move(cluster));
    }

    std::unique_ptr<Store> open_file() {
        try {
            return open_store(config_.store, clock_.now());
        } catch (const sqlite::StoreInUse&) {
            throw CommandError(
                cli::exit_conflict,
                fmt::format("an engine uses {}: ask it instead, with --server and an admin's token "
                            "in SLUICE_TOKEN; without one, stop the engine and try again, or start "
                            "it with SLUICE_ADMIN_TOKEN_FILE",
                            shown_store(config_.store)));
        }
    }

    const Config config_;
    SystemClock clock_;
};

}  // namespace

std::unique_ptr<cli::TokenOffice> open_store_office(const cli::StoreChoice& choice) {
    return std::make_unique<StoreOffice>(choice);
}

}  // namespace sluice
