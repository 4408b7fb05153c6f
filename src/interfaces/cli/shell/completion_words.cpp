#include "interfaces/cli/shell/completion_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "interfaces/cli/framework/common_flags.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/shell/token_words.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/screen.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "sluice/client.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr client::Millis patience = 300ms;
constexpr int jobs_shown = 30;

struct Candidate {
    std::string word{};
    std::string description{};
};
using Candidates = std::vector<Candidate>;

std::string variable_or(const char* name, const std::string& other) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : other;
}

// The meaning of the words before the last one.
struct Context {
    const Command* command = nullptr;
    const Option* open_flag = nullptr;            // it waits for its value
    std::size_t arguments = 0;                    // positional ones so far
    std::map<std::string, std::string> values{};  // of flags
};

Context read_words(const Command& program, const std::vector<std::string>& words) {
    Context context{.command = &program};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (context.open_flag) {
            context.values[context.open_flag->main_name()] = word;
            context.open_flag = nullptr;
        } else if (word.size() > 1 && word.starts_with('-')) {
            const std::size_t equals = word.find('=');
            const Option* flag = context.command->find_flag(word.substr(0, equals));
            if (!flag || !flag->takes_value()) continue;
            if (equals == std::string::npos) {
                context.open_flag = flag;
            } else {
                context.values[flag->main_name()] = word.substr(equals + 1);
            }
        } else if (const Command* sub = context.command->find_command(word);
                   sub && !sub->is_hidden() && context.arguments == 0) {
            context.command = sub;
        } else {
            ++context.arguments;
        }
    }
    return context;
}

Candidates plain(const std::vector<std::string>& words) {
    Candidates candidates;
    for (const std::string& word : words) candidates.push_back({word, ""});
    return candidates;
}

// Whether a name from the engine can be on a command line as it is: shells would take other
// characters for more than a part of the word.
bool is_plain_word(const std::string& word) {
    return word.find_first_not_of(
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
               "._:/@=,+-") == std::string::npos;
}

// The engine's newest jobs, or none when it does not answer in time.
std::vector<client::Job> newest_jobs(const Context& context) {
    ConnectionFlags flags;
    const auto value = [&](const char* flag, const char* variable, const std::string& other) {
        const auto given = context.values.find(flag);
        return given == context.values.end() ? variable_or(variable, other) : given->second;
    };
    try {
        client::Options options;
        options.server = value("--server", "SLUICE_SERVER", client::default_server);
        flags.token = value("--token", "SLUICE_TOKEN", "");
        if (context.values.contains("--token-file")) {
            flags.token_file = context.values.at("--token-file");
        }
        options.token = token_of(flags);
        options.tenant = value("--tenant", "SLUICE_TENANT", "");
        options.ca_file = value("--ca-file", "SLUICE_CA_FILE", "");
        options.timeout = patience;
        options.patience = 0ms;
        client::JobQuery query;
        query.limit = jobs_shown;
        return client::Client(options).list(query).jobs;
    } catch (const std::exception&) {
        return {};
    }
}

Candidates job_ids(const Context& context) {
    Candidates candidates{{"@last", "the job submitted last"}};
    for (const client::Job& job : newest_jobs(context)) {
        if (!is_plain_word(job.id)) continue;
        std::string description = std::string(to_text(job.state)) + " " + printable(job.type);
        if (job.created_at) description += " " + short_duration(now() - *job.created_at) + " ago";
        candidates.push_back({job.id, description});
    }
    return candidates;
}

Candidates distinct(const Context& context, std::string client::Job::*member,
                    const std::vector<std::string>& usual) {
    std::set<std::string> values(usual.begin(), usual.end());
    for (const client::Job& job : newest_jobs(context)) {
        if (is_plain_word(job.*member)) values.insert(job.*member);
    }
    return plain({values.begin(), values.end()});
}

// Files whose path begins with `start`; folders end with a slash.
Candidates files(const std::string& start, const std::string& mark = {}) {
    const std::size_t slash = start.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : start.substr(0, slash + 1);
    Candidates candidates;
    std::error_code problem;
    for (fs::directory_iterator at(folder.empty() ? "." : folder, problem), end;
         !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        const std::string path = folder + name;
        if (!path.starts_with(start)) continue;
        if (name.starts_with('.') && start.size() == folder.size()) continue;
        std::error_code ignored;
        candidates.push_back({mark + path + (at->is_directory(ignored) ? "/" : ""), ""});
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.word < b.word; });
    return candidates;
}

// The last of several words between commas; the ones before it stay.
Candidates comma_words(const std::string& current, const std::vector<std::string>& words) {
    const std::size_t comma = current.rfind(',');
    const std::string before = comma == std::string::npos ? "" : current.substr(0, comma + 1);
    Candidates candidates;
    for (const std::string& word : words) candidates.push_back({before + word, ""});
    return candidates;
}

bool is_below(const Command& command, std::string_view name) {
    return command.parent() && command.parent()->name() == name;
}

bool is_about_entities(const Command& command) {
    return is_below(command, "entity") || is_below(command, "site");
}

// Whose ids and names are not those of jobs.
bool is_about_others(const Command& command) {
    const auto is_in = [&](std::string_view group) { return is_below(command, group); };
    constexpr std::string_view groups[] = {"token",       "limit",  "quota",  "source",
                                           "maintenance", "tenant", "profile"};
    return is_about_entities(command) || std::any_of(std::begin(groups), std::end(groups), is_in);
}

const Listing& listing_of(const Command& command) {
    if (command.name() == "events") return event_listing();
    if (command.name() == "logs") return log_listing();
    if (is_below(command, "worker")) return worker_listing();
    if (is_below(command, "token")) {
        return command.name() == "whoami" ? caller_listing() : token_listing();
    }
    return is_about_entities(command) ? entity_listing() : job_listing();
}

Candidates flag_values(const Context& context, const Option& flag, const std::string& current) {
    const std::string name = flag.main_name();
    if (name == "--state") {
        // The states of entities are known to the engine only.
        return is_about_entities(*context.command) ? Candidates()
                                                   : comma_words(current, state_names());
    }
    if (is_below(*context.command, "token")) {
        if (name == "--kind") return plain(token_kinds());
        if (name == "--scope") return comma_words(current, token_scopes());
        if (name == "--expires") return plain({"7d", "30d", "90d", "365d", "never"});
    }
    if (is_below(*context.command, "limit") && name == "--kind")
        return plain({"limit", "throttle"});
    if (name == "--per") return comma_words(current, {"tenant", "type", "queue", "source"});
    if (name == "--output") return plain(output_formats());
    if (name == "--fields") return comma_words(current, listing_of(*context.command).fields);
    if (name == "--for") {
        Candidates candidates;
        for (const std::string& state : state_names()) candidates.push_back({"state=" + state, ""});
        return candidates;
    }
    if (name == "--type") return distinct(context, &client::Job::type, worker::demo_types());
    if (name == "--types") {
        std::vector<std::string> types;
        for (auto& type : distinct(context, &client::Job::type, {})) types.push_back(type.word);
        return comma_words(current, types);
    }
    if (name == "--queue") return distinct(context, &client::Job::queue, {"default"});
    if (name == "--depends-on" || name == "--replay-of") return job_ids(context);
    if (name == "--on-dependency-failure") return plain({"cancel", "run"});
    if (name == "--backoff") return plain({"none", "10s,1m,10m", "1s..5m"});
    if (name == "--data")
        return current.starts_with('@') ? files(current.substr(1), "@") : plain({"@", "-"});
    if (name == "--config" || name == "--exec" || name == "--out" || name == "--token-file")
        return files(current);
    return {};
}

Candidates arguments(const Context& context, const std::string& current) {
    Candidates candidates;
    if (context.arguments == 0) {
        for (const Command* sub : context.command->visible_commands()) {
            candidates.push_back({sub->name(), sub->summary()});
        }
    }
    const auto& expected = context.command->arguments();
    if (expected.empty()) return candidates;
    const Option& argument = expected[std::min(context.arguments, expected.size() - 1)];
    const bool takes_more = context.arguments < expected.size() || argument.is_list();
    if (!takes_more) return candidates;
    const std::string name = argument.names.front();
    const Command& command = *context.command;
    if (is_about_others(command)) return candidates;
    if (name == "ID") return job_ids(context);
    if (name == "SHELL") return plain(shell_names());
    if (name == "TYPE") {
        return distinct(context, &client::Job::type, worker::demo_types());
    }
    return files(current);
}

Candidates flags(const Command& command) {
    Candidates candidates;
    for (const Option& flag : command.flags()) {
        candidates.push_back({flag.main_name(), flag.help});
    }
    return candidates;
}

Candidates candidates_for(const Context& context, const std::string& current) {
    if (context.open_flag) return flag_values(context, *context.open_flag, current);
    if (!current.starts_with('-')) return arguments(context, current);
    const std::size_t equals = current.find('=');
    if (equals == std::string::npos) return flags(*context.command);
    const Option* flag = context.command->find_flag(current.substr(0, equals));
    if (!flag) return {};
    Candidates candidates = flag_values(context, *flag, current.substr(equals + 1));
    for (Candidate& candidate : candidates) {
        candidate.word = current.substr(0, equals + 1) + candidate.word;
    }
    return candidates;
}

}  // namespace

void print_candidates(const Command& program, const std::vector<std::string>& words) {
    const std::string current = words.empty() ? "" : words.back();
    std::string out;
    for (const Candidate& candidate : candidates_for(read_words(program, words), current)) {
        if (!candidate.word.starts_with(current)) continue;
        out += candidate.word;
        if (!candidate.description.empty()) out += "\t" + printable(candidate.description);
        out += "\n";
    }
    write_to(screen_on(1, true), out);
}

}  // namespace sluice::cli
