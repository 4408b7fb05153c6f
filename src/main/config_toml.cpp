// From TOML to Config. Each table is read as a Section, which notes every key that is asked for;
// what is left when the section closes is unknown. Problems are collected, so that one run shows
// all of them.
#include "main/config_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "application/make_job.hpp"
#include "main/config_values.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr const char* duration_form = "a duration such as \"30s\", \"5m\" or \"1h30m\"";
// What stands in the file, for people.
std::string found(const toml::node& node) {
    if (const auto* text = node.as_string()) return '"' + text->get() + '"';
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{:#}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (node.is_table()) return "a table";
    if (node.is_array()) return "an array";
    return "a date or time";
}

class Problems {
  public:
    explicit Problems(std::string_view file) : file_(file) {}

    void add(const toml::source_region& where, std::string_view what) {
        found_.emplace(where.begin.line, fmt::format("{}:{}: {}", file_, where.begin.line, what));
    }
    void append_to(std::vector<std::string>& out) const {
        for (const auto& problem : found_) out.push_back(problem.second);
    }

  private:
    std::string file_;
    std::multimap<std::uint32_t, std::string> found_;  // by line
};

// One table of the file; no table at all reads as an empty one.
class Section {
  public:
    Section(const toml::table* table, std::string path, Problems& problems)
        : table_(table), path_(std::move(path)), problems_(problems) {}

    // The node of this key, or nullptr. From now on the key is a known one.
    const toml::node* find(std::string_view key) {
        if (!is_known(key)) known_.emplace_back(key);
        return table_ == nullptr ? nullptr : table_->get(key);
    }

    std::string name(std::string_view key) const {
        return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    }

    void refuse(std::string_view key, const toml::node& node, std::string_view allowed) {
        problems_.add(node.source(),
                      fmt::format("{}: must be {}, not {}", name(key), allowed, found(node)));
    }

    void problem(std::string_view key, const toml::node& node, std::string_view what) {
        problems_.add(node.source(), fmt::format("{}: {}", name(key), what));
    }

    Section section(std::string_view key) {
        const toml::node* node = find(key);
        if (node != nullptr && !node->is_table()) refuse(key, *node, "a table");
        return {node == nullptr ? nullptr : node->as_table(), name(key), problems_};
    }

    void text(std::string_view key, std::string& out, std::size_t max = limits::name_bytes) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_string();
        if (value == nullptr || value->get().empty() || value->get().size() > max) {
            return refuse(key, *node, fmt::format("a text of 1 to {} bytes", max));
        }
        out = value->get();
    }

    void flag(std::string_view key, bool& out) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_boolean();
        if (value == nullptr) return refuse(key, *node, "true or false");
        out = value->get();
    }

    template <class T>
    void integer(std::string_view key, T& out, std::int64_t low, std::int64_t high) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_integer();
        if (value == nullptr || value->get() < low || value->get() > high) {
            return refuse(key, *node, fmt::format("an integer between {} and {}", low, high));
        }
        out = static_cast<T>(value->get());
    }

    template <class T>
    void choice(std::string_view key, T& out, const Names<T>& names) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const auto* value = node->as_string();
        const auto chosen = value == nullptr ? std::nullopt : find_name(names, value->get());
        if (!chosen) return refuse(key, *node, one_of(names));
        out = *chosen;
    }

    // The duration in `node`, which is that of `key` or inside of it.
    std::optional<Duration> duration_in(std::string_view key, const toml::node& node, Duration low,
                                        Duration high) {
        const auto* text = node.as_string();
        const auto value = text == nullptr ? std::nullopt : parse_duration(text->get());
        if (!value) {
            refuse(key, node, duration_form);
        } else if (*value < low || *value > high) {
            refuse(key, node,
                   fmt::format("between {} and {}", duration_text(low), duration_text(high)));
        } else {
            return value;
        }
        return std::nullopt;
    }

    template <class T>
    void duration(std::string_view key, T& out, Duration low, Duration high) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        if (const auto value = duration_in(key, *node, low, high)) {
            out = std::chrono::duration_cast<T>(*value);
        }
    }

    void texts(std::string_view key, std::vector<std::string>& out) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        const toml::array* array = node->as_array();
        if (array == nullptr) return refuse(key, *node, "an array of texts");
        out.clear();
        for (const toml::node& element : *array) {
            const auto* value = element.as_string();
            if (value == nullptr) return refuse(key, element, "an array of texts");
            out.push_back(value->get());
        }
    }

    // At most one of the two keys may be there.
    void either(std::string_view one, std::string_view other) {
        const toml::node* second = find(other);
        if (find(one) == nullptr || second == nullptr) return;
        problem(other, *second, fmt::format("cannot be given together with {}", one));
    }

    // Reports every key that nobody asked for.
    void close() {
        if (table_ == nullptr) return;
        for (const auto& [key, node] : *table_) {
            if (is_known(key.str())) continue;
            problems_.add(key.source(), fmt::format("unknown key \"{}\"; {}", name(key.str()),
                                                    suggestion(key.str(), known_)));
        }
    }

  private:
    bool is_known(std::string_view key) const {
        return std::find(known_.begin(), known_.end(), key) != known_.end();
    }

    const toml::table* table_;
    std::string path_;
    Problems& problems_;
    std::vector<std::string> known_;
};

void read_backoff(Section& type, Backoff& out) {
    const toml::node* node = type.find("backoff");
    if (node == nullptr) return;
    if (const auto* text = node->as_string(); text != nullptr && text->get() == "none") {
        out = Backoff::none();
    } else if (const toml::array* array = node->as_array()) {
        std::vector<Duration> delays;
        for (const toml::node& element : *array) {
            const auto delay = type.duration_in("backoff", element, 0s, limits::delay);
            if (!delay) return;
            delays.push_back(*delay);
        }
        if (delays.empty() || delays.size() > limits::list_items) {
            return type.problem("backoff", *node,
                                fmt::format("must have 1 to {} delays", limits::list_items));
        }
        out = Backoff::list(std::move(delays));
    } else if (node->is_table()) {
        Section table = type.section("backoff");
        std::string kind;
        table.choice("kind", kind, {{"exponential", "exponential"}});
        Duration base = 1s, cap = 5min;
        table.duration("base", base, 1ms, limits::delay);
        table.duration("cap", cap, 1ms, limits::delay);
        table.close();
        if (!node->as_table()->contains("kind")) {
            type.problem("backoff", *node, "needs kind = \"exponential\"");
        }
        if (base > cap) type.problem("backoff", *node, "base must not be longer than cap");
        out = Backoff::exponential(base, cap);
    } else {
        type.refuse("backoff", *node,
                    "\"none\", an array of durations or {kind = \"exponential\", base, cap}");
    }
}

// Overrides what the table names and leaves the rest of `out` as it is.
void read_job_type(Section type, JobType& out) {
    type.text("queue", out.queue);
    type.integer("priority", out.priority, -limits::priority, limits::priority);
    int retries = out.max_attempts - 1;
    type.integer("max_retries", retries, 0, limits::attempts - 1);
    out.max_attempts = retries + 1;
    type.integer("max_attempts", out.max_attempts, 1, limits::attempts);
    type.either("max_attempts", "max_retries");
    std::int64_t timeout_ms = to_millis(out.timeout);
    type.integer("timeout_ms", timeout_ms, 0, to_millis(limits::timeout));
    out.timeout = from_millis(timeout_ms);
    type.duration("timeout", out.timeout, 0s, limits::timeout);
    type.either("timeout", "timeout_ms");
    type.flag("retry_on_timeout", out.retry_on_timeout);
    read_backoff(type, out.backoff);
    type.close();
}

void read_job_types(const toml::table& file, Section& root, JobTypes& out) {
    bool strict = false;
    root.flag("strict_types", strict);
    out.refuse_unknown(strict);

    // The default comes first, wherever it stands, since new types start from it.
    Section types = root.section("job_types");
    JobType fallback = out.fallback();
    read_job_type(types.section("default"), fallback);
    read_job_type(root.section("default_job_type"), fallback);
    out.set_default(fallback);

    const toml::table* tables = file["job_types"].as_table();
    if (tables == nullptr) return;
    if (tables->contains("default") && file.contains("default_job_type")) {
        root.problem("default_job_type", *file.get("default_job_type"),
                     "cannot be given together with job_types.default");
    }
    for (const auto& [key, node] : *tables) {
        if (key.str() == "default") continue;
        const std::string name(key.str());
        if (name.empty() || name.size() > limits::name_bytes) {
            types.problem(name, node,
                          fmt::format("must be a name of 1 to {} bytes", limits::name_bytes));
        }
        const auto known = out.all().find(name);
        JobType type = known == out.all().end() ? fallback : known->second;
        type.name = name;
        read_job_type(types.section(name), type);
        out.put(std::move(type));
    }
}

void read_limits(Section table, http::Limits& out) {
    constexpr std::int64_t kib = 1024, mib = 1024 * kib;
    table.duration("header_time", out.header_time, 100ms, 1h);
    table.duration("body_time", out.body_time, 100ms, 1h);
    table.duration("idle_time", out.idle_time, 100ms, 24h);
    table.duration("write_time", out.write_time, 100ms, 1h);
    table.duration("stream_life", out.stream_life, 1s, 24h * 7);
    table.integer("header_bytes", out.header_bytes, kib, mib);
    table.integer("header_count", out.header_count, 8, 1000);
    table.integer("target_bytes", out.target_bytes, 256, 64 * kib);
    table.integer("body_bytes", out.body_bytes, kib, 64 * mib);
    table.integer("connections", out.connections, 1, 100'000);
    table.integer("connections_per_address", out.connections_per_address, 1, 100'000);
    table.integer("streams", out.streams, 0, 100'000);
    table.close();
}

void read_lease(Section table, Config& out) {
    table.duration("default", out.default_lease, 1s, 24h);
    table.duration("max", out.max_lease, 1s, 24h);
    if (out.default_lease > out.max_lease) {
        const toml::node* node = table.find("default");
        if (node == nullptr) node = table.find("max");
        table.problem("default", *node,
                      fmt::format("{} is longer than lease.max, which is {}",
                                  duration_text(out.default_lease), duration_text(out.max_lease)));
    }
    table.close();
}

void read_listen(Section& root, http::ServerOptions& out) {
    const toml::node* node = root.find("listen");
    if (node == nullptr) return;
    const auto* text = node->as_string();
    const auto address = text == nullptr ? std::nullopt : parse_listen(text->get());
    if (!address) return root.refuse("listen", *node, listen_form);
    out.host = address->host;
    out.port = address->port;
}

void read_file(const toml::table& file, Problems& problems, Config& out) {
    Section root(&file, "", problems);
    read_listen(root, out.server);
    root.text("store", out.store, 4096);
    root.flag("no_auth", out.no_auth);
    root.integer("node", out.node, 0, node_max);
    root.texts("allowed_hosts", out.server.allowed_hosts);
    std::int64_t hours = out.idempotency_memory.count();
    root.integer("idempotency_hours", hours, 1, 24 * 366);
    out.idempotency_memory = std::chrono::hours(hours);
    Section log = root.section("log");
    log.choice("level", out.log_level, log_levels);
    log.choice("format", out.log_format, log_formats);
    log.close();
    read_lease(root.section("lease"), out);
    read_limits(root.section("limits"), out.server.limits);
    read_job_types(file, root, out.job_types);
    root.close();
}

}  // namespace

void read_toml(std::string_view text, std::string_view file_name, Config& out,
               std::vector<std::string>& problems) {
    Problems found(file_name);
    const toml::parse_result parsed = toml::parse(text, file_name);
    if (parsed) {
        read_file(parsed.table(), found, out);
    } else {
        found.add(parsed.error().source(), parsed.error().description());
    }
    found.append_to(problems);
}

}  // namespace sluice
