#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "application/secret_marks.hpp"
#include "domain/entity_kind.hpp"
#include "domain/job_type.hpp"
#include "domain/result.hpp"
#include "domain/retention.hpp"
#include "domain/time.hpp"
#include "infrastructure/jwt/jwt_settings.hpp"
#include "infrastructure/log.hpp"
#include "infrastructure/postgres/schema_name.hpp"
#include "interfaces/http/deploy/settings.hpp"
#include "interfaces/http/limits_by_caller.hpp"
#include "interfaces/http/server.hpp"
#include "interfaces/worker/executor.hpp"

namespace sluice {

enum class LogFormat { automatic, json, text };  // automatic: text on a terminal, else JSON

// What runs jobs in the engine's own process.
struct RunnerConfig {
    std::string name{};  // as workers are named; empty: engine-NODE@HOST:PID
    int concurrency = 8;
    std::vector<std::string> queues{};  // only these; empty: any
    std::vector<std::string> types{};   // only these; empty: those that have an executor
    std::vector<std::string> labels{};
    Duration lease = std::chrono::seconds(30);
    Duration shutdown_grace = std::chrono::seconds(30);
};

// Where the values come from that are not the defaults: "sluice.toml:3", "SLUICE_NODE", "--listen".
using Origins = std::map<std::string, std::string>;

// What an operator can choose. docs/sluice.example.toml explains each setting; its values are
// these.
struct Config {
    http::ServerOptions server{.host = "127.0.0.1", .port = 7070};
    std::string store{};                  // URL; empty: not given, the caller decides
    std::string store_direct{};           // PostgreSQL past a pooler, for LISTEN; empty: as `store`
    postgres::SchemaName store_schema{};  // of the tables, on PostgreSQL
    int committers = 2;  // threads that write, each with a connection, on PostgreSQL
    // Bytes kept on the disk of a SQLite store, for what runs when it is full; zero: none.
    int store_reserve = 16 << 20;
    Duration retention{};  // of ended jobs; zero: they are kept for ever
    std::map<JobState, Duration> retention_by_outcome{};  // where it differs from that
    bool no_auth = false;                                 // everyone may do everything
    bool plaintext = false;  // serves other machines without TLS: a proxy in front has it
    int node = 0;            // 0..1023, part of every id; engines that share a store differ in it
    log::Level log_level = log::Level::info;
    LogFormat log_format = LogFormat::automatic;
    Duration default_lease = std::chrono::seconds(30);
    Duration max_lease = std::chrono::hours(1);
    std::chrono::hours idempotency_memory{24};
    bool strict_types = false;
    JobTypes job_types = JobTypes::built_in();
    EntityKinds entity_kinds = EntityKinds::built_in();
    // Members of these names are shown to nobody but the worker that does the job.
    std::vector<std::string> secret_names = SecretNames::usual_marks();
    std::vector<std::string> admins{"admin"};  // with no_auth, these callers may do everything
    std::string admin_token{};                 // a token that is in no store; empty: none
    std::optional<JwtSettings> jwt{};          // nothing: no JSON Web Tokens are believed
    http::CallerLimits caller_limits{};
    http::deploy::Settings deploy{};
    RunnerConfig runner{};
    std::map<std::string, worker::Executor> executors{};  // by job type
    std::map<std::string, worker::AnsibleNode> nodes{};   // by node_id
    Origins origins{};
};

// For how long ended jobs are kept, as the two settings together say.
Retention retention_of(const Config& config);

// The value of an environment variable, or nothing when it is not set.
using EnvLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Reads the configuration: environment before file before defaults. Flags come last, by
// set_option(). The error lists every problem, one per line, each with its place: "sluice.toml:3:
// node: must be …".
Result<Config> load_config(std::string_view toml_text, std::string_view file_name,
                           const EnvLookup& env);

// The same from the file that `flag` or else SLUICE_CONFIG names; without either, from no file.
Result<Config> load_config_file(const std::optional<std::string>& flag, const EnvLookup& env);

// Sets one of listen, store, store_direct, store_schema, retention, node, log.level, log.format,
// no_auth, plaintext, auth.admin_token, auth.admin_token_file, runner.concurrency, tls.certificate
// and tls.key from text. `origin` is what the error calls it, e.g. "--listen". On a refusal nothing
// has changed.
Result<Done> set_option(Config& config, std::string_view name, std::string_view value,
                        std::string_view origin);

}  // namespace sluice
