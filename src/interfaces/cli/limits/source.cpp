// `sluice source …`: where jobs come from.
#include "interfaces/cli/framework/api_path.hpp"
#include "interfaces/cli/limits/flag_words.hpp"
#include "interfaces/cli/limits/limit_commands.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"
#include "interfaces/cli/limits/rule_view.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

const std::string sources_path = "/api/v1/sources";

const Listing& source_listing() {
    static const Listing listing{
        .name = "sources",
        .id_field = "source",
        .fields = {"source", "tenant", "queued", "queued_more", "active", "submitted_24h",
                   "succeeded_24h", "failed_24h", "failure_rate", "last_job_at", "paused", "reason",
                   "ticket", "until", "rule", "held"},
        .table = {{"source", "SOURCE"},
                  {"tenant", "TENANT"},
                  {"held", "QUEUED"},
                  {"active", "ACTIVE"},
                  {"submitted_24h", "TODAY"},
                  {"failed_24h", "FAILED"},
                  {"failure_rate", "RATE"},
                  {"last_job_at", "LAST JOB"},
                  {"paused", "PAUSED"},
                  {"until", "ENDS"},
                  {"reason", "REASON"}},
        .wide = {{"succeeded_24h", "SUCCEEDED"}, {"ticket", "TICKET"}, {"rule", "RULE"}},
        .plain = {"source", "tenant", "queued", "active", "submitted_24h", "succeeded_24h",
                  "failed_24h", "failure_rate", "last_job_at", "paused", "until", "reason",
                  "ticket"},
    };
    return listing;
}

int list_sources(const CommonFlags& flags) {
    Session session(flags);
    session.fields_or({}, source_listing().fields);
    const std::string path = sources_path + query_text({{"tenant", flags.tenant}});
    const std::string document = session.client().call("GET", path, "", true);
    std::vector<std::string> sources = listed(document);
    if (!session.prints_json() || session.has_fields()) {
        for (std::string& source : sources) source = with_capped(source, "queued", "held");
    }
    print_listing(session, source_listing(), sources, {.json = document});
    return exit_ok;
}

struct SourceFlags {
    ChangeFlags change{};
    std::string source{};
    std::string until{};
};

int act_on_source(const SourceFlags& flags, const char* action) {
    Session session(flags.change.common);
    session.fields_or({}, rule_listing().fields);
    const std::string body = change_body(flags.change, [&](JsonWriter& json) {
        json.field("source", flags.source);
        if (!flags.change.common.tenant.empty()) json.field("tenant", flags.change.common.tenant);
        write_until(json, flags.until);
    });
    const std::string path = sources_path + "/" + action;
    print_change(session, flags.change, call_limits(session, "POST", path, body, true, "source"));
    return exit_ok;
}

int pause_source(const SourceFlags& flags) {
    return act_on_source(flags, "pause");
}
int resume_source(const SourceFlags& flags) {
    return act_on_source(flags, "resume");
}

}  // namespace

void add_source_commands(Command& program) {
    Command& source = program.add_command("source", "Look at where jobs come from, and pause it");
    Command& list = source.add_command("list", "List the sources of the last day and more");
    add_common_flags(list, list.runs(list_sources));
    list.set_footer(examples({"sluice source list"}));

    Command& pause = source.add_command("pause", "Start no more jobs from a source; they wait");
    SourceFlags& paused = pause.runs(pause_source);
    pause.add_argument("SOURCE", &paused.source, "Which one");
    add_until_flag(pause, paused.until);
    add_change_flags(pause, paused.change);
    pause.set_footer(examples(
        {"sluice source pause nightly --until 2h --reason 'it floods the queue' --ticket OPS-7"}));

    Command& resume = source.add_command("resume", "Let jobs from a source start again");
    SourceFlags& resumed = resume.runs(resume_source);
    resume.add_argument("SOURCE", &resumed.source, "Which one");
    add_change_flags(resume, resumed.change);
    resume.set_footer(
        examples({"sluice source pause weekly --reason 'a test' && sluice source "
                  "resume weekly --reason 'it was one'"}));
}

}  // namespace sluice::cli
