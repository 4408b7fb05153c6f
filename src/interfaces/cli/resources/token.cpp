// Access tokens: `sluice token …`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/shell/token_words.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "json/json_writer.hpp"

namespace sluice::cli {
namespace {

class EngineOffice final : public TokenOffice {
  public:
    explicit EngineOffice(Session& session) : session_(session) {}

    std::string create(const std::string& body) override {
        return session_.client().call("POST", "/api/v1/tokens", body, false);
    }
    std::string list(const std::string& tenant) override {
        return session_.client().call("GET", list_path(tenant), "", true);
    }
    std::string look_up(const std::string& tenant) override {
        return session_.asking().call("GET", list_path(tenant), "", true);
    }
    std::string revoke(const std::string& id) override {
        return session_.client().call("POST", "/api/v1/tokens/" + percent_encoded(id) + "/revoke",
                                      "", true);
    }

  private:
    static std::string list_path(const std::string& tenant) {
        return "/api/v1/tokens" + (tenant.empty() ? "" : "?tenant=" + percent_encoded(tenant));
    }

    Session& session_;
};

struct TokenFlags {
    CommonFlags common{};
    StoreChoice choice{};
    OpenStoreOffice open_store{};
    std::string name{};
    std::string id{};
    std::string kind = "user";
    std::vector<std::string> scopes{};
    std::vector<std::string> types{};
    std::string expires{};
    bool all_tenants = false;
    bool all = false;
};

std::unique_ptr<TokenOffice> office_for(const TokenFlags& flags, Session& session) {
    if (!flags.choice.is_given()) return std::make_unique<EngineOffice>(session);
    if (flags.common.show_curl) {
        throw CommandError(exit_usage, "--curl and --store contradict each other: nothing is sent");
    }
    return flags.open_store(flags.choice);
}

void write_words(JsonWriter& json, const char* name, const std::vector<std::string>& words) {
    if (!words.empty()) json.list(name, words);
}

// "never", a time, or a time from now on; nothing leaves it to the engine.
void write_expiry(JsonWriter& json, const std::string& text) {
    if (text.empty()) return;
    if (text == "never") return json.raw_field("expires_at", "null");
    json.field("expires_at", moment_flag("--expires", text, 1));
}

std::string new_token_body(const TokenFlags& flags) {
    check_word("--kind", flags.kind, token_kinds());
    const std::vector<std::string> scopes = comma_lists(flags.scopes);
    for (const std::string& scope : scopes) check_word("--scope", scope, token_scopes());
    const bool is_worker = flags.kind == "worker";
    if (is_worker ? flags.all_tenants || !scopes.empty() : !flags.types.empty()) {
        throw CommandError(exit_usage,
                           "--types is for --kind worker only, and --scope and "
                           "--all-tenants are for the other kinds");
    }
    return json_object_text([&](JsonWriter& json) {
        json.field("name", flags.name);
        json.field("kind", flags.kind);
        if (!flags.common.tenant.empty()) json.field("tenant", flags.common.tenant);
        if (flags.all_tenants) json.field("all_tenants", true);
        write_words(json, "scopes", scopes);
        write_words(json, "job_types", comma_lists(flags.types));
        write_expiry(json, flags.expires);
    });
}

int create_token(const TokenFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, token_listing().fields);
    const std::string body = new_token_body(flags);
    const std::string answer = office_for(flags, session)->create(body);
    if (flags.kind != "worker" && flags.scopes.empty())
        session.say("It has no scope, so that it allows nothing outside of apps (see --scope).");
    if (session.prints_json() || session.has_fields()) {
        print_object(session, token_listing(), answer);
        return exit_ok;
    }
    const JsonObject token(answer);
    session.put_line(token.text("token"));
    if (session.out().is_terminal) {
        session.say(
            fmt::format("Token {} of {}. It is shown this once: keep it now, for example in "
                        "a file for --token-file.",
                        token.text("id"), printable(flags.name)));
    }
    return exit_ok;
}

int list_tokens(const TokenFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, token_listing().fields);
    const std::string document = office_for(flags, session)->list(flags.common.tenant);
    std::vector<std::string> tokens = JsonObject(document).elements("tokens");
    if (!flags.all) {
        std::erase_if(tokens, [](const std::string& token) {
            return JsonObject(token).text("state") != "active";
        });
    }
    print_listing(session, token_listing(), tokens, {});
    return exit_ok;
}

// The ids of the tokens that the user may mean: tokens in use with this name, or all ids with this
// beginning.
std::vector<std::string> ids_meant(const TokenFlags& flags, const std::vector<std::string>& all) {
    std::vector<std::string> ids;
    for (const std::string& json : all) {
        const JsonObject token(json);
        const std::string id = token.text("id");
        const bool is_meant =
            flags.id.empty() ? token.text("name") == flags.name && token.text("state") == "active"
                             : id.starts_with(flags.id);
        if (is_meant) ids.push_back(id);
    }
    return ids;
}

// An id that a user pasted from a token must not be taken for one: its other part is the secret.
std::string id_to_revoke(const TokenFlags& flags, TokenOffice& office) {
    constexpr std::size_t id_digits = 24;
    const bool is_hex = flags.id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hex || flags.id.size() > id_digits) {
        throw CommandError(exit_usage,
                           "an id has up to 24 hex digits; in a token it stands after slu_; "
                           "for a name: --name NAME");
    }
    if (flags.id.size() == id_digits) return flags.id;
    const auto ids =
        ids_meant(flags, JsonObject(office.look_up(flags.common.tenant)).elements("tokens"));
    if (ids.size() == 1) return ids.front();
    const std::string what = flags.id.empty() ? "the name " + printable(flags.name)
                                              : "an id that begins with " + printable(flags.id);
    if (ids.empty()) {
        const char* state = flags.id.empty() ? "active " : "";
        throw CommandError(exit_not_found, fmt::format("no {}token has {}", state, what));
    }
    throw CommandError(exit_conflict, fmt::format("{} tokens have {}; say which: {}", ids.size(),
                                                  what, fmt::join(ids, ", ")));
}

int revoke_token(const TokenFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, token_listing().fields);
    if (flags.id.empty() == flags.name.empty()) {
        throw CommandError(exit_usage, "say which token: its id, or its name with --name");
    }
    const auto office = office_for(flags, session);
    print_object(session, token_listing(), office->revoke(id_to_revoke(flags, *office)));
    return exit_ok;
}

int who_am_i(const TokenFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, caller_listing().fields);
    print_object(session, caller_listing(),
                 session.client().call("GET", "/api/v1/whoami", "", true));
    return exit_ok;
}

void add_store_flags(Command& command, TokenFlags& flags) {
    command.add_option("--store", &flags.choice.store, "URL",
                       "Work on this store itself, on its machine, instead of asking an engine");
    command.add_option("--config", &flags.choice.config, "FILE",
                       "The same with the store that this configuration file names");
    command.add_option("--store-schema", &flags.choice.store_schema, "NAME",
                       "With --store: the schema of its tables on PostgreSQL");
}

void add_rights_flags(Command& command, TokenFlags& flags) {
    command.add_option("--kind", &flags.kind, "KIND", "Who will show it: user, worker or service");
    command.add_option("--scope", &flags.scopes, "SCOPE",
                       "What it is for: orch:read, orch:operate, orch:admin, …, with commas");
    command.add_option("--types", &flags.types, "A,B",
                       "For workers: the job types that they may run, with commas (default: any)");
    command.add_flag("--all-tenants", &flags.all_tenants, "Good for every tenant");
    command.add_option("--expires", &flags.expires, "90d",
                       "After such a time, at such a time, or never (default: 90d)");
}

void add_create_command(Command& token, const OpenStoreOffice& open_store) {
    Command& command = token.add_command("create", "Make an access token, and print it once");
    TokenFlags& flags = command.runs(create_token);
    flags.open_store = open_store;
    command.add_argument("NAME", &flags.name, "Whose it is");
    add_rights_flags(command, flags);
    add_store_flags(command, flags);
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice token create ada --scope orch:operate",
                                 "sluice token create press --kind worker --types greet,mail",
                                 "sluice token create deployer --kind service --scope orch:operate "
                                 "--expires 7d --json"}));
}

void add_list_command(Command& token, const OpenStoreOffice& open_store) {
    Command& command = token.add_command("list", "List the access tokens that are in use");
    TokenFlags& flags = command.runs(list_tokens);
    flags.open_store = open_store;
    command.add_flag("--all", &flags.all, "Also those that have expired or were revoked");
    add_store_flags(command, flags);
    add_common_flags(command, flags.common);
    command.set_footer(examples({"sluice token list --all"}));
}

void add_revoke_command(Command& token, const OpenStoreOffice& open_store) {
    Command& command = token.add_command("revoke", "Take an access token out of use, for good");
    TokenFlags& flags = command.runs(revoke_token);
    flags.open_store = open_store;
    command.add_argument("ID", &flags.id, "Its id, or how that begins").is_required = false;
    command.add_option("--name", &flags.name, "NAME", "The one that has this name");
    add_store_flags(command, flags);
    add_common_flags(command, flags.common);
    command.set_footer(
        "Every engine knows it within five seconds.\n\n" +
        examples(
            {"sluice token create temporary --quiet && sluice token revoke --name temporary"}));
}

}  // namespace

void add_token_commands(Command& program, const OpenStoreOffice& open_store) {
    Command& token = program.add_command("token", "Make access tokens, and look after them");
    add_create_command(token, open_store);
    add_list_command(token, open_store);
    add_revoke_command(token, open_store);

    Command& whoami = token.add_command("whoami", "Whom an engine takes this token for");
    add_common_flags(whoami, whoami.runs(who_am_i).common);
    whoami.set_footer(examples({"sluice token whoami"}));
}

}  // namespace sluice::cli
