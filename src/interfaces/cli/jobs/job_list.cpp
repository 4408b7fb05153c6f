#include <fmt/format.h>

#include <algorithm>

#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

constexpr int page_max = 200;

struct ListFlags {
    CommonFlags common{};
    std::vector<std::string> states{};
    std::string type{};
    std::string queue{};
    std::string project{};
    std::string entity{};
    std::string site{};
    std::string node{};
    std::string label{};
    std::string worker{};
    std::string source{};
    std::string correlation_id{};
    std::string replay_of{};
    std::string since{};
    std::string before{};
    int limit = 50;
    bool all = false;
};

client::JobQuery query_of(Session& session, const ListFlags& flags) {
    client::JobQuery query;
    const auto filter = [&](const char* name, const std::string& value) {
        if (!value.empty()) query.filters.emplace_back(name, value);
    };
    const std::vector<std::string> states = comma_lists(flags.states);
    for (const std::string& state : states) check_word("--state", state, state_names());
    filter("state", fmt::format("{}", fmt::join(states, ",")));
    filter("type", flags.type);
    filter("queue", flags.queue);
    filter("project", flags.project);
    const std::size_t slash = flags.entity.find('/');
    if (slash == 0) throw CommandError(exit_usage, "--entity must be TYPE or TYPE/ID");
    filter("entity_type", flags.entity.substr(0, slash));
    if (slash != std::string::npos) filter("entity_id", flags.entity.substr(slash + 1));
    filter("site_id", flags.site);
    filter("node_id", flags.node);
    filter("label", flags.label);
    filter("worker_id", flags.worker);
    filter("source", flags.source);
    filter("correlation_id", flags.correlation_id);
    if (!flags.replay_of.empty()) filter("replay_of", find_job_id(session, flags.replay_of));
    if (!flags.since.empty()) filter("created_from", moment_flag("--since", flags.since, -1));
    if (!flags.before.empty()) filter("created_before", moment_flag("--before", flags.before, -1));
    return query;
}

int list_jobs(const ListFlags& flags) {
    Session session(flags.common);
    if (flags.limit < 1) throw CommandError(exit_usage, "--limit must be at least 1");
    session.fields_or({}, job_listing().fields);
    const bool streams =
        session.format() == OutputFormat::jsonl || session.format() == OutputFormat::name;
    client::JobQuery query = query_of(session, flags);
    std::vector<std::string> jobs;
    Document document{.more_name = "next_cursor"};
    int count = 0;
    bool is_first = true;
    do {
        query.limit = flags.all ? page_max : std::min(page_max, flags.limit - count);
        const client::JobPage page = session.client().list(query);
        count += static_cast<int>(page.jobs.size());
        for (const client::Job& job : page.jobs) jobs.push_back(job.json);
        query.cursor = page.next_cursor;
        document.json = is_first ? page.json : "";
        is_first = false;
        if (streams) {
            print_listing(session, job_listing(), jobs, document);
            jobs.clear();
        }
    } while (!query.cursor.empty() && (flags.all || count < flags.limit));
    document.more = query.cursor.empty() ? "null" : "\"" + query.cursor + "\"";
    if (!streams) print_listing(session, job_listing(), jobs, document);
    if (!query.cursor.empty() && session.out().is_terminal) {
        session.say(fmt::format("the newest {}; more with --limit N or --all", count));
    }
    return exit_ok;
}

}  // namespace

void add_job_list_command(Command& job) {
    Command& command = job.add_command("list", "List jobs, newest first");
    ListFlags& flags = command.runs(list_jobs);
    command.add_option("--state", &flags.states, "STATE",
                       "queued, running, succeeded, failed, canceled, timed_out; "
                       "several with commas");
    command.add_option("--type", &flags.type, "TYPE", "Of this type");
    command.add_option("--queue", &flags.queue, "NAME", "In this queue");
    command.add_option("--project", &flags.project, "NAME", "Of this project");
    command.add_option("--entity", &flags.entity, "TYPE[/ID]", "About this");
    command.add_option("--site", &flags.site, "ID", "On this site");
    command.add_option("--node", &flags.node, "ID", "On this node");
    command.add_option("--label", &flags.label, "NAME", "With this label");
    command.add_option("--worker", &flags.worker, "NAME", "Running on this worker");
    command.add_option("--source", &flags.source, "NAME", "From this source");
    command.add_option("--correlation-id", &flags.correlation_id, "ID", "With this correlation id");
    command.add_option("--replay-of", &flags.replay_of, "ID", "Replays of this job");
    command.add_option("--since", &flags.since, "DURATION|TIME",
                       "Submitted within this time, or since then");
    command.add_option("--before", &flags.before, "DURATION|TIME", "Submitted before that");
    command.add_option("--limit", &flags.limit, "N", "How many at most");
    command.add_flag("--all", &flags.all, "All of them, however many").excludes = "--limit";
    add_common_flags(command, flags.common);
    command.set_footer(examples({
        "sluice job list --state failed,timed_out --since 1h",
        "sluice job list --type demo.hello --json --fields id,state,result",
        "sluice job list --all -o name",
    }));
}

}  // namespace sluice::cli
