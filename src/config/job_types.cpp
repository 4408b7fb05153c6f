// Job types, from TOML and as they are shown.
#include "config/settings.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

std::optional<Backoff> read_delays(Section& type, std::string_view key, const TomlValue& array) {
    std::vector<Duration> delays;
    for (const TomlValue& element : array.children) {
        const auto delay = type.duration_in(key, element, 0s, limits::delay);
        if (!delay) return std::nullopt;
        delays.push_back(*delay);
    }
    if (!delays.empty() && delays.size() <= limits::list_items) return Backoff::list(delays);
    return type.problem(key, fmt::format("must have 1 to {} delays", limits::list_items));
}

std::optional<Backoff> read_backoff(Section& type, std::string_view key) {
    const TomlValue* value = type.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind == TomlValue::Kind::text && value->text == "none") return Backoff::none();
    if (value->kind == TomlValue::Kind::array) return read_delays(type, key, *value);
    if (value->kind != TomlValue::Kind::table) {
        return type.refuse(
            key, *value, "\"none\", an array of durations or {kind = \"exponential\", base, cap}");
    }
    Section table = type.section(key);
    table.choice("kind", {"exponential"});
    const Duration base = table.duration("base", 1ms, limits::delay).value_or(1s);
    const Duration cap = table.duration("cap", 1ms, limits::delay).value_or(5min);
    table.close();
    if (!table.has("kind")) type.problem(key, "needs kind = \"exponential\"");
    if (base > cap) return type.problem(key, "base must not be longer than cap");
    return Backoff::exponential(base, cap);
}

std::string backoff_text(const Backoff& backoff) {
    switch (backoff.kind) {
        case Backoff::Kind::none: return "\"none\"";
        case Backoff::Kind::list: {
            std::vector<std::string> delays;
            for (const Duration delay : backoff.delays) delays.push_back(duration_text(delay));
            return list_of(delays);
        }
        case Backoff::Kind::exponential: break;
    }
    return fmt::format("{{kind = \"exponential\", base = {}, cap = {}}}", quoted(backoff.base),
                       quoted(backoff.cap));
}

// The two numbers that have a second way to be written, for which these keys stand.
void read_retries(Section& type, std::string_view key, JobType& out) {
    const auto retries = type.integer(key, 0, limits::attempts - 1);
    if (retries) out.max_attempts = static_cast<int>(*retries) + 1;
}

void read_timeout_ms(Section& type, std::string_view key, JobType& out) {
    const auto timeout = type.integer(key, 0, to_millis(limits::timeout));
    if (timeout) out.timeout = from_millis(*timeout);
}

Rows<JobType> make_job_type_rows() {
    using T = JobType;
    const Form<T> retries{.read = read_retries,
                          .range = fmt::format("0 to {}", limits::attempts - 1)};
    const Form<T> timeout_ms{.read = read_timeout_ms,
                             .range = fmt::format("0 to {}", to_millis(limits::timeout))};
    return {
        {"queue", text(&T::queue), "The queue of its jobs."},
        {"priority", integer(&T::priority, -limits::priority, limits::priority),
         "Higher runs first."},
        {"max_attempts", integer(&T::max_attempts, 1, limits::attempts), "Attempts in all.",
         Outside(), "", "", "max_retries"},
        {"max_retries", retries, "The same without the first attempt."},
        {"timeout", duration(&T::timeout, 0s, limits::timeout),
         "Time for one attempt. \"0s\": no limit.", Outside(), "", "", "timeout_ms"},
        {"timeout_ms", timeout_ms, "The same in milliseconds."},
        {"retry_on_timeout", flag(&T::retry_on_timeout),
         "true: an attempt that took too long is followed by another."},
        {"backoff", form_of(&T::backoff, read_backoff, backoff_text, "delays"),
         "The pause before another attempt. Or \"none\", or an array of durations."},
        {"needs_node", flag(&T::needs_node),
         "Jobs must name a node_id; each node runs one job at a time."},
        {"needs_site", flag(&T::needs_site),
         "Jobs must name a site_id; each site runs one job at a time."},
        {"refuses_site", flag(&T::refuses_site), "Jobs must not name a site_id."},
        {"admin_cancels", flag(&T::admin_cancels), "Only admins cancel its jobs."},
        {"needs_error", flag(&T::needs_error),
         "A failed report must set error_code and error_message."},
        {"redact", texts(&T::redact, each_text(SecretMarks::problem_with_path)),
         "Paths in the payload that only workers see: [\"db.url\", \"accounts.*.token\"]."},
    };
}

// Overrides the fields that the table names and leaves the rest of `out` as it is.
void read_job_type(Section& type, JobType& out) {
    read_rows(type, job_type_rows(), out);
    type.either("max_attempts", "max_retries");
    type.either("timeout", "timeout_ms");
    if (out.needs_site && out.refuses_site) {
        const char* key = type.has("refuses_site") ? "refuses_site" : "needs_site";
        type.problem(key, "a type cannot both need and refuse a site");
    }
}

void read_default_type(Section type, JobType& out) {
    read_job_type(type, out);
    type.close();
}

}  // namespace

Check<std::vector<std::string>> each_text(std::string (*problem_with)(std::string_view)) {
    return [=](Section& section, std::string_view key, const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            const std::string problem = problem_with(text);
            if (problem.empty()) continue;
            section.problem(key, fmt::format("\"{}\" {}", text, problem));
            return false;
        }
        return true;
    };
}

const Rows<JobType>& job_type_rows() {
    static const Rows<JobType> rows = make_job_type_rows();
    return rows;
}

void read_job_types(Section& root, Config& config) {
    JobTypes& out = config.job_types;
    out.refuse_unknown(config.strict_types);

    // The default is read first, wherever the file has it, since new types start from it.
    Section types = root.section("job_types");
    JobType fallback = out.fallback();
    read_default_type(types.section("default"), fallback);
    read_default_type(root.section("default_job_type"), fallback);
    out.set_default(fallback);
    if (types.has("default") && root.has("default_job_type")) {
        root.problem("default_job_type", "cannot be given together with job_types.default");
    }
    for (const std::string& name : types.members()) {
        if (name == "default") continue;
        if (name.empty() || name.size() > limits::name_bytes) {
            types.problem(name, fmt::format("must be a name of 1 to {} bytes", limits::name_bytes));
        }
        const auto known = out.all().find(name);
        JobType type = known == out.all().end() ? fallback : known->second;
        type.name = name;
        Section section = types.section(name);
        read_job_type(section, type);
        if (section.has("executor")) {
            if (auto executor = read_executor(name, section.section("executor"), config.nodes)) {
                config.executors.insert_or_assign(name, *std::move(executor));
            }
        }
        section.close();
        out.put(std::move(type));
    }
}

void show_job_types(Listing& out, const Config& config, bool all) {
    show_rows(out, "job_types.default.", job_type_rows(), config.job_types.fallback());
    const JobTypes built_in = Catalog::built_in().types;
    for (const auto& [name, type] : config.job_types.all()) {
        const auto known = built_in.all().find(name);
        const bool changed = known == built_in.all().end() || known->second != type;
        if (!all && !changed) continue;
        show_rows(out, fmt::format("job_types.{}.", name), job_type_rows(), type);
    }
    for (const auto& [type, executor] : config.executors) {
        show_executor(out, fmt::format("job_types.{}.executor.", type), executor);
    }
}

}  // namespace sluice
