#include "config/settings.hpp"

#include <algorithm>
#include <iterator>

#include "config/store_url.hpp"
#include "domain/values/check.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
constexpr Duration retention_max = 24h * 36500;
constexpr std::size_t count_max = 100'000;  // of connections, streams and claims

const Names<log::Level> log_levels{{"debug", log::Level::debug},
                                   {"info", log::Level::info},
                                   {"warn", log::Level::warn},
                                   {"error", log::Level::error}};
const Names<LogFormat> log_formats{
    {"auto", LogFormat::automatic}, {"json", LogFormat::json}, {"text", LogFormat::text}};

bool is_postgres_address(Section& section, std::string_view key, const std::string& url) {
    if (is_postgres(url)) return true;
    // An address of an unknown form may be a secret as a whole, so it is not repeated.
    section.problem(key, fmt::format("must be {}", postgres_form));
    return false;
}

Form<Config> listen_address() {
    Form<Config> form{.range = "HOST:PORT"};
    form.read = [](Section& section, std::string_view key, Config& out) {
        const TomlValue* found = section.find(key);
        if (found == nullptr) return;
        const bool is_text = found->kind == TomlValue::Kind::text;
        const auto address = parse_listen(is_text ? found->text : "");
        if (address) {
            out.server.host = address->host;
            out.server.port = address->port;
        } else {
            const std::string why = is_text ? fmt::format(" ({})", address.error().message) : "";
            section.refuse(key, *found, listen_form + why);
        }
    };
    form.show = [](Listing& out, const SettingKey& setting, const Config& config) {
        out.add(setting, quoted(address_text(config.server.host, config.server.port)));
    };
    return form;
}

Form<Config> outcome_retention(JobState outcome) {
    Form<Config> form = duration(&Config::retention, 0s, retention_max);
    form.read = [=](Section& section, std::string_view key, Config& out) {
        const auto kept = section.duration(key, 0s, retention_max);
        if (kept) out.retention_by_outcome[outcome] = *kept;
    };
    form.show = [=](Listing& out, const SettingKey& setting, const Config& config) {
        out.add(setting, quoted(retention_of(config).of(outcome)));
    };
    return form;
}

Form<Config> hours(std::chrono::hours Config::*member, int low, int high) {
    const auto read = [=](Section& in, std::string_view key) { return in.integer(key, low, high); };
    const auto write = [](std::chrono::hours value) { return std::to_string(value.count()); };
    const std::string range = fmt::format("{} to {}", low, high);
    return form_of(member, read, write, range, TomlValue::Kind::integer);
}

Form<Config> schema_name(postgres::SchemaName Config::*member) {
    const auto write = [](const postgres::SchemaName& name) { return name.text(); };
    return parsed(member, postgres::SchemaName::resolve, write, postgres::schema_name_form,
                  "letters, digits and _");
}

Rows<Config> store_rows() {
    using C = Config;
    Rows<C> rows{
        {"listen", listen_address(),
         "Address to serve on. Port 0 takes a free one; IPv6: \"[::1]:7070\".",
         from("SLUICE_LISTEN", "--listen", "HOST:PORT")},
        {"store", address(&C::store),
         "Where jobs are kept: sqlite:PATH, postgres://… or memory:. An address with a password is "
         "better in the variable.",
         from("SLUICE_STORE", "--store", "URL", "a store's URL")},
        {"store_direct", address(&C::store_direct, is_postgres_address),
         "PostgreSQL past a pooler such as PgBouncer, to listen on.",
         from("SLUICE_STORE_DIRECT", "", "", postgres_form),
         "\"postgres://sluice:PASSWORD@db.example.com:5433/sluice\""},
        {"store_schema", schema_name(&C::store_schema),
         "Schema of the tables on PostgreSQL. Engines that share jobs have the same one.",
         from("SLUICE_STORE_SCHEMA", "--store-schema", "NAME")},
        {"committers", integer(&C::committers, 1, 8),
         "Threads that write to PostgreSQL, each with a connection of its own."},
        {"store_reserve", integer(&C::store_reserve, 0, 1024 * mib),
         "Bytes that are kept on the disk of a SQLite store, an eighth of the disk at most, so "
         "that jobs that run can end when it is full. 0: none."},
        {"retention", duration(&C::retention, 0s, retention_max),
         "For how long jobs are kept after their end, at least idempotency_hours. \"0s\": for "
         "ever.",
         from("SLUICE_RETENTION", "", "",
              "a duration such as \"30d\", or \"0s\" to keep jobs for ever")},
    };
    for (const JobState outcome : outcomes) {
        const std::string name(to_text(outcome));
        const std::string help = fmt::format(
            "For how long jobs that ended as {} are kept, when not for retention.", name);
        rows.push_back(
            {"retention_of." + name, outcome_retention(outcome), help, Outside(), "\"30d\""});
    }
    return rows;
}

Rows<Config> engine_rows() {
    using C = Config;
    return {
        {"no_auth", flag(&C::no_auth),
         "Let everybody on this machine in (loopback only). For development.",
         from("SLUICE_NO_AUTH", "--no-auth")},
        {"plaintext", flag(&C::plaintext),
         "Take tokens over HTTP from other machines. For an engine that only a proxy with TLS can "
         "reach.",
         from("SLUICE_PLAINTEXT")},
        {"node", integer(&C::node, 0, 1023),
         "A part of every job id; engines whose ids must not collide have different numbers. On "
         "PostgreSQL the database hands out the numbers instead.",
         from("SLUICE_NODE")},
    };
}

Rows<http::ServerOptions> host_rows() {
    return {{"allowed_hosts", texts(&http::ServerOptions::allowed_hosts),
             "Names that clients may use in the Host header, without port; empty: any. Set it "
             "where browsers can reach the engine: it stops DNS rebinding."}};
}

Rows<Config> policy_rows() {
    using C = Config;
    return {
        {"admins", texts(&C::admins),
         "With no_auth, callers that give themselves these names may do everything: reset sites, "
         "cancel their jobs, keep nodes."},
        {"idempotency_hours", hours(&C::idempotency_memory, 1, 24 * 366),
         "How long an idempotency key is remembered."},
        {"strict_types", flag(&C::strict_types),
         "true refuses jobs whose type is neither built in nor listed in this file."},
        {"log.level", choice(&C::log_level, log_levels),
         "The least important messages that are logged.", from("SLUICE_LOG_LEVEL")},
        {"log.format", choice(&C::log_format, log_formats),
         "The form of the log; auto: text on a terminal, else JSON.", from("SLUICE_LOG_FORMAT")},
        {"lease.default", duration(&C::default_lease, 1s, 24h),
         "The lease of a worker that does not ask for another."},
        {"lease.max", duration(&C::max_lease, 1s, 24h), "The most that a worker can ask for."},
    };
}

Rows<http::TlsFiles> tls_rows() {
    return {
        {"certificate", text(&http::TlsFiles::certificate, path_bytes),
         "A PEM file with the certificate, and those that lead to its authority.",
         from("SLUICE_TLS_CERTIFICATE"), "\"/etc/sluice/tls/server.pem\""},
        {"key", text(&http::TlsFiles::key, path_bytes),
         "A PEM file with its key, without a pass phrase, readable by the engine alone.",
         from("SLUICE_TLS_KEY"), "\"/etc/sluice/tls/server.key\""},
    };
}

Rows<http::Limits> limit_rows() {
    using L = http::Limits;
    return {
        {"header_time", duration(&L::header_time, 100ms, 1h),
         "Time from the first byte of a request to the end of its headers."},
        {"body_time", duration(&L::body_time, 100ms, 1h),
         "Time for a body, plus one second for each kilobyte that has come."},
        {"idle_time", duration(&L::idle_time, 100ms, 24h),
         "Time between two requests of a connection."},
        {"write_time", duration(&L::write_time, 100ms, 1h),
         "Time for a client to read its answer, plus one second for each kilobyte that it took."},
        {"stream_life", duration(&L::stream_life, 1s, 24h * 7),
         "Life of a streamed answer, which the client then resumes."},
        {"header_bytes", integer(&L::header_bytes, kib, mib), "Bytes of all headers of a request."},
        {"header_count", integer(&L::header_count, 8, 1000), "Headers of a request."},
        {"target_bytes", integer(&L::target_bytes, 256, 64 * kib), "Bytes of path and query."},
        {"body_bytes", integer(&L::body_bytes, kib, 64 * mib), "Bytes of a body."},
        {"body_memory", integer(&L::body_memory, 16 * mib, 64 * 1024 * mib),
         "Bytes of the bodies of all requests together; more are answered with 503."},
        {"answer_memory", integer(&L::answer_memory, 16 * mib, 64 * 1024 * mib),
         "Bytes of all answers on their way out; more wait, and the slowest readers are cut."},
        {"connections", integer(&L::connections, 1, count_max),
         "Connections at once. When all are taken, the slowest client that keeps one from work is "
         "cut."},
        {"connections_per_address", integer(&L::connections_per_address, 1, count_max),
         "Connections from one address; loopback is exempt."},
        {"streams", integer(&L::streams, 0, count_max), "Streamed answers at once."},
    };
}

Form<http::CallerLimits> rate(http::CallerLimits::Rate http::CallerLimits::*member) {
    return parsed(member, parse_rate, rate_text, rate_form, "\"0\", or up to \"1000000/s\"");
}

Rows<http::CallerLimits> caller_limit_rows() {
    using L = http::CallerLimits;
    return {
        {"requests_per_tenant", rate(&L::per_tenant),
         "Requests of one tenant: \"100/s\", \"600/min\" or \"1000/h\". \"0\": no limit."},
        {"requests_per_address", rate(&L::per_address),
         "Requests from one address; loopback is exempt. \"0\": no limit."},
        {"bad_tokens_per_address", rate(&L::bad_tokens),
         "Requests from one address with a token that is not good. \"0\": no limit."},
        {"streams_per_token", integer(&L::streams_per_token, 0, count_max),
         "Streamed answers at once for one token. 0: no limit."},
        {"streams_per_tenant", integer(&L::streams_per_tenant, 0, count_max),
         "Streamed answers at once for one tenant. 0: no limit."},
        {"waiting_claims_per_tenant", integer(&L::waiting_claims_per_tenant, 0, count_max),
         "Claims of one tenant that wait for a job at once. 0: no limit."},
    };
}

Rows<RunnerConfig> runner_rows() {
    using R = RunnerConfig;
    return {
        {"name", text(&R::name), "The name of this worker. Without it: engine-NODE@HOST:PID.",
         Outside(), "\"builder-1\""},
        {"concurrency", integer(&R::concurrency, 1, client::concurrency_max),
         "Jobs that this process runs at once.", from("SLUICE_CONCURRENCY", "--concurrency", "N")},
        {"queues", texts(&R::queues), "Only jobs of these queues; empty: any."},
        {"types", texts(&R::types),
         "Only jobs of these types; empty: those that have an executor. One without an executor "
         "fails its jobs."},
        {"labels", texts(&R::labels), "What this worker has, for jobs that ask for it."},
        {"lease", duration(&R::lease, 1s, 1h), "The lease of its jobs."},
        {"shutdown_grace", duration(&R::shutdown_grace, 0s, 1h),
         "Time for running jobs to finish when the engine stops."},
    };
}

Rows<Config> secret_rows() {
    return {{"secrets.redact",
             texts(&Config::secret_names, each_text(SecretMarks::problem_with_name)),
             "Members of these names, at any depth, of every type's jobs and of entities, are "
             "shown as \"***\" to all but the worker that does the job. A word in a name is "
             "enough, in any style: gitToken, DB_PASSWORD, api-key. [] hides nothing."}};
}

void append(Rows<Config>& out, Rows<Config> more) {
    std::move(more.begin(), more.end(), std::back_inserter(out));
}

// The rows of a part as rows of the whole. `part` gives the address of the part, or nullptr.
template <class Part, class Access>
void append(Rows<Config>& out, const std::string& path, const Rows<Part>& rows, Access part) {
    for (const Row<Part>& row : rows) {
        Form<Config> form{
            .range = row.form.range, .kind = row.form.kind, .secrecy = row.form.secrecy};
        form.read = [=, read = row.form.read](Section& section, std::string_view key, Config& all) {
            if (auto* found = part(all)) read(section, key, *found);
        };
        form.show = [=, show = row.form.show](Listing& list, const SettingKey& setting,
                                              const Config& all) {
            if (auto* found = part(all)) show(list, setting, *found);
        };
        if (!row.form.show) form.show = nullptr;
        const std::string other = row.other_key.empty() ? "" : path + row.other_key;
        out.push_back({path + row.key, std::move(form), row.help, row.outside, row.example,
                       row.needed, other, row.in_file});
    }
}

Rows<Config> all_rows() {
    Rows<Config> all = store_rows();
    append(all, engine_rows());
    append(all, "", host_rows(), [](auto& config) { return &config.server; });
    append(all, policy_rows());
    append(all, "tls.", tls_rows(), [](auto& config) { return &config.server.tls; });
    append(all, "limits.", limit_rows(), [](auto& config) { return &config.server.limits; });
    append(all, "limits.", caller_limit_rows(), [](auto& config) { return &config.caller_limits; });
    append(all, admin_token_rows());
    append(all, "runner.", runner_rows(), [](auto& config) { return &config.runner; });
    append(all, "auth.jwt.", jwt_rows(),
           [](auto& config) { return config.jwt ? &*config.jwt : nullptr; });
    append(all, "deploy.", deploy_rows(), [](auto& config) { return &config.deploy; });
    append(all, secret_rows());
    append(all, "governance.", governance_rows(), [](auto& config) { return &config.governance; });
    return all;
}

}  // namespace

const Rows<Config>& setting_rows() {
    static const Rows<Config> rows = all_rows();
    return rows;
}

const Row<Config>& setting_row(std::string_view key) {
    const Rows<Config>& rows = setting_rows();
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row<Config>& row) { return row.key == key; });
    check(found != rows.end(), "a setting is in the table");
    return *found;
}

}  // namespace sluice
