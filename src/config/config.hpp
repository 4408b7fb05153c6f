#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "application/limits/change_limits.hpp"
#include "application/secrets/secret_marks.hpp"
#include "application/toolkit/contract_rules.hpp"
#include "domain/entities/entity_kind.hpp"
#include "domain/jobs/job_type.hpp"
#include "domain/jobs/retention.hpp"
#include "domain/values/result.hpp"
#include "domain/values/time.hpp"
#include "infrastructure/jwt/jwt_settings.hpp"
#include "infrastructure/postgres/connection/schema_name.hpp"
#include "infrastructure/system/log.hpp"
#include "interfaces/http/access/limits_by_caller.hpp"
#include "interfaces/http/deploy/settings.hpp"
#include "interfaces/http/server/server.hpp"
#include "interfaces/worker/executors/executor.hpp"

namespace sluice {

enum class LogFormat { automatic, json, text };  // automatic: text on a terminal, else JSON

// The runner in the engine's own process.
struct RunnerConfig {
    std::string name{};  // as workers are named; empty: engine-NODE@HOST:PID
    int concurrency = 8;
    std::vector<std::string> queues{};  // only these; empty: any
    std::vector<std::string> types{};   // only these; empty: those that have an executor
    std::vector<std::string> labels{};
    Duration lease = std::chrono::seconds(30);
    Duration shutdown_grace = std::chrono::seconds(30);
};

// The sources of the values that are not the defaults: "sluice.toml:3", "SLUICE_NODE", "--listen".
using Origins = std::map<std::string, std::string>;

// The settings that an operator can choose, with their defaults. settings.cpp has a row for each
// setting, and docs/configuration.md the same for people.
struct Config {
    http::ServerOptions server{.host = "127.0.0.1", .port = 7070};
    std::string store{};                  // URL; empty: not given, the caller decides
    std::string store_direct{};           // PostgreSQL past a pooler, for LISTEN; empty: as `store`
    postgres::SchemaName store_schema{};  // of the tables, on PostgreSQL
    int committers = 2;  // threads that write, each with a connection, on PostgreSQL
    // Bytes kept on the disk of a SQLite store so that running jobs can end when it is full; zero:
    // none.
    int store_reserve = 16 << 20;
    Duration retention{};  // of ended jobs; zero: they are kept for ever
    std::map<JobState, Duration> retention_by_outcome{};  // where it differs from that
    bool no_auth = false;                                 // every caller may do everything
    bool plaintext = false;  // serves other machines without TLS: a proxy in front has it
    int node = 0;            // 0..1023, part of every id; engines that share a store differ in it
    log::Level log_level = log::Level::info;
    LogFormat log_format = LogFormat::automatic;
    Duration default_lease = std::chrono::seconds(30);
    Duration max_lease = std::chrono::hours(1);
    std::chrono::hours idempotency_memory{24};
    bool strict_types = false;
    JobTypes job_types = Catalog::built_in().types;
    EntityKinds entity_kinds = Catalog::built_in().kinds;
    // Members of these names are shown to the worker that does the job, and to no other caller.
    std::vector<std::string> secret_names = SecretNames::usual_marks();
    std::vector<std::string> admins{"admin"};  // with no_auth, these callers may do everything
    std::string admin_token{};                 // a token that is in no store; empty: none
    std::optional<JwtSettings> jwt{};          // nothing: no JSON Web Tokens are believed
    http::CallerLimits caller_limits{};
    http::deploy::Settings deploy{};
    RunnerConfig runner{};
    ConfiguredLimits governance{};                        // revision 0: [governance] is not there
    std::map<std::string, worker::Executor> executors{};  // by job type
    std::map<std::string, worker::AnsibleNode> nodes{};   // by node_id
    Origins origins{};
};

// The time for which ended jobs are kept, by the two settings together.
Retention retention_of(const Config& config);

// The value of an environment variable, or nothing when it is not set.
using EnvLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Reads the configuration: environment before file before defaults. Flags come last, by
// set_option(). The error lists every problem, one per line, each with its location:
// "sluice.toml:3: node: must be …".
Result<Config> load_config(std::string_view toml_text, std::string_view file_name,
                           const EnvLookup& env);

// The same from the file that `flag` or else SLUICE_CONFIG names; without either, from no file.
Result<Config> load_config_file(const std::optional<std::string>& flag, const EnvLookup& env);

// Sets the setting of this key, which must be one (settings.hpp), from the text of a variable or a
// flag. `origin` is its name in the error, e.g. "--listen". On a refusal nothing has changed.
Result<Done> set_option(Config& config, std::string_view key, std::string_view value,
                        std::string_view origin);

}  // namespace sluice
