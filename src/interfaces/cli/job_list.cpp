#include <fmt/format.h>

#include <algorithm>

#include "interfaces/cli/command_error.hpp"
#include "interfaces/cli/command_tree.hpp"
#include "interfaces/cli/display_text.hpp"
#include "interfaces/cli/job_ids.hpp"
#include "interfaces/cli/listing.hpp"

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
    std::string correlation_id{};
    std::string replay_of{};
    std::string since{};
    std::string before{};
    int limit = 50;
    bool all = false;
};

// A duration back from now, or a time.
std::string moment(const std::string& flag, const std::string& text) {
    const bool is_time = text.find('T') != std::string::npos;
    return to_rfc3339(is_time ? time_flag(flag, text) : now() - duration_flag(flag, text));
}

client::JobQuery query_of(Session& session, const ListFlags& flags) {
    client::JobQuery query;
    const auto filter = [&](const char* name, const std::string& value) {
        if (!value.empty()) query.filters.emplace_back(name, value);
    };
    std::vector<std::string> states;
    for (const std::string& list : flags.states) {
        for (const std::string& state : comma_list(list)) {
            check_word("--state", state, state_names());
            states.push_back(state);
        }
    }
    filter("state", fmt::format("{}", fmt::join(states, ",")));
    filter("type", flags.type);
    filter("queue", flags.queue);
    filter("project", flags.project);
    const std::size_t slash = flags.entity.find('/');
    filter("entity_type", flags.entity.substr(0, slash));
    if (slash != std::string::npos) filter("entity_id", flags.entity.substr(slash + 1));
    filter("site_id", flags.site);
    filter("node_id", flags.node);
    filter("label", flags.label);
    filter("worker_id", flags.worker);
    filter("correlation_id", flags.correlation_id);
    if (!flags.replay_of.empty()) filter("replay_of", find_job_id(session, flags.replay_of));
    if (!flags.since.empty()) filter("created_from", moment("--since", flags.since));
    if (!flags.before.empty()) filter("created_before", moment("--before", flags.before));
    return query;
}

std::string cursor_json(const std::string& cursor) {
    return cursor.empty() ? "null" : "\"" + cursor + "\"";
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
    document.more = cursor_json(query.cursor);
    if (!streams) print_listing(session, job_listing(), jobs, document);
    if (!query.cursor.empty() && session.out().is_terminal) {
        session.say(fmt::format("the newest {}; more with --limit N or --all", count));
    }
    return exit_ok;
}

}  // namespace

void add_job_list_command(CLI::App& job, Chosen& chosen) {
    const auto flags = std::make_shared<ListFlags>();
    CLI::App* command = job.add_subcommand("list", "List jobs, newest first");
    const auto filter = [&](const char* name, std::string& value, const char* help,
                            const char* type_name) {
        command->add_option(name, value, help)->type_name(type_name);
    };
    command
        ->add_option("--state", flags->states,
                     "queued, running, succeeded, failed, canceled, timed_out; "
                     "several with commas")
        ->allow_extra_args(false)
        ->type_name("STATE");
    filter("--type", flags->type, "Of this type", "TYPE");
    filter("--queue", flags->queue, "In this queue", "NAME");
    filter("--project", flags->project, "Of this project", "NAME");
    filter("--entity", flags->entity, "About this", "TYPE[/ID]");
    filter("--site", flags->site, "On this site", "ID");
    filter("--node", flags->node, "On this node", "ID");
    filter("--label", flags->label, "With this label", "NAME");
    filter("--worker", flags->worker, "Running on this worker", "NAME");
    filter("--correlation-id", flags->correlation_id, "With this correlation id", "ID");
    filter("--replay-of", flags->replay_of, "Replays of this job", "ID");
    filter("--since", flags->since, "Submitted within this time, or since then", "DURATION|TIME");
    filter("--before", flags->before, "Submitted before that", "DURATION|TIME");
    command->add_option("--limit", flags->limit, "How many at most")
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--all", flags->all, "All of them, however many");
    add_common_flags(*command, flags->common);
    command->footer(examples({
        "sluice job list --state failed,timed_out --since 1h",
        "sluice job list --type demo.hello --json --fields id,state,result",
        "sluice job list --all -o name",
    }));
    on_command(*command, chosen, flags, list_jobs);
}

}  // namespace sluice::cli
