// Access tokens: `sluice token …`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "client/http_place.hpp"
#include "interfaces/cli/cli.hpp"
#include "interfaces/cli/command_error.hpp"
#include "interfaces/cli/command_tree.hpp"
#include "interfaces/cli/display_text.hpp"
#include "interfaces/cli/listing.hpp"
#include "interfaces/cli/token_words.hpp"
#include "json/json_reader.hpp"
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
        return session_.client().call(
            "POST", "/api/v1/tokens/" + client::url_encoded(id) + "/revoke", "", true);
    }

  private:
    static std::string list_path(const std::string& tenant) {
        return "/api/v1/tokens" + (tenant.empty() ? "" : "?tenant=" + client::url_encoded(tenant));
    }

    Session& session_;
};

struct TokenFlags {
    CommonFlags common{};
    StoreChoice place{};
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
    if (!flags.place.is_given()) return std::make_unique<EngineOffice>(session);
    if (flags.common.show_curl) {
        throw CommandError(exit_usage, "--curl and --store contradict each other: nothing is sent");
    }
    return flags.open_store(flags.place);
}

std::vector<std::string> words_of(const std::vector<std::string>& given) {
    std::vector<std::string> all;
    for (const std::string& words : given) {
        for (std::string& word : comma_list(words)) all.push_back(std::move(word));
    }
    return all;
}

void write_words(JsonWriter& json, const char* name, const std::vector<std::string>& words) {
    if (words.empty()) return;
    json.key(name);
    json.begin_array();
    for (const std::string& word : words) json.value(word);
    json.end_array();
}

// "never", a time, or a time from now on; nothing leaves it to the engine.
void write_expiry(JsonWriter& json, const std::string& text) {
    if (text.empty()) return;
    if (text == "never") return json.raw_field("expires_at", "null");
    if (const auto moment = parse_rfc3339(text)) return json.field("expires_at", *moment);
    const client::Millis life = duration_flag("--expires", text);
    if (life > std::chrono::hours(24 * 36'500)) {
        throw CommandError(exit_usage, "--expires: more than 100 years; write never");
    }
    json.field("expires_at", std::chrono::time_point_cast<Duration>(now() + life));
}

std::string new_token_body(const TokenFlags& flags) {
    check_word("--kind", flags.kind, token_kinds());
    const std::vector<std::string> scopes = words_of(flags.scopes);
    for (const std::string& scope : scopes) check_word("--scope", scope, token_scopes());
    std::string body;
    JsonWriter json(body);
    json.begin_object();
    json.field("name", flags.name);
    json.field("kind", flags.kind);
    if (!flags.common.tenant.empty()) json.field("tenant", flags.common.tenant);
    if (flags.all_tenants) json.field("all_tenants", true);
    write_words(json, "scopes", scopes);
    write_words(json, "job_types", words_of(flags.types));
    write_expiry(json, flags.expires);
    json.end_object();
    return body;
}

int create_token(const TokenFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, token_listing().fields);
    const std::string body = new_token_body(flags);
    const std::string answer = office_for(flags, session)->create(body);
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

std::vector<std::string> tokens_in(const std::string& document) {
    std::vector<std::string> tokens;
    const JsonObject parsed(document);
    const std::string* list = parsed.raw("tokens");
    if (!list) return tokens;
    JsonReader reader(*list, JsonLimits::depth_possible);
    reader.array([&](std::size_t) { tokens.emplace_back(reader.raw()); });
    return tokens;
}

int list_tokens(const TokenFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, token_listing().fields);
    const std::string document = office_for(flags, session)->list(flags.common.tenant);
    std::vector<std::string> tokens = tokens_in(document);
    if (!flags.all) {
        std::erase_if(tokens, [](const std::string& token) {
            return JsonObject(token).text("state") != "active";
        });
    }
    print_listing(session, token_listing(), tokens, {});
    return exit_ok;
}

// The ids of the tokens that can be meant: those in use of this name, or all that begin so.
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

// An id that somebody pasted from a token must not be taken for one: its other part is the secret.
std::string id_to_revoke(const TokenFlags& flags, TokenOffice& office) {
    constexpr std::size_t id_digits = 24;
    const bool is_hex = flags.id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hex || flags.id.size() > id_digits) {
        throw CommandError(exit_usage,
                           "an id has up to 24 hex digits; in a token it stands after slu_");
    }
    if (flags.id.size() == id_digits) return flags.id;
    const auto ids = ids_meant(flags, tokens_in(office.look_up(flags.common.tenant)));
    if (ids.size() == 1) return ids.front();
    const std::string what = flags.id.empty() ? "the name " + printable(flags.name)
                                              : "an id that begins with " + printable(flags.id);
    if (ids.empty()) throw CommandError(exit_not_found, "no token has " + what);
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

void add_place_flags(CLI::App& command, TokenFlags& flags) {
    command
        .add_option("--store", flags.place.store,
                    "Work on this store itself, on its machine, instead of asking an engine")
        ->type_name("URL");
    command
        .add_option("--config", flags.place.config,
                    "The same with the store that this configuration file names")
        ->type_name("FILE");
    command
        .add_option("--store-schema", flags.place.store_schema,
                    "With --store: the schema of its tables on PostgreSQL")
        ->type_name("NAME");
}

void add_rights_flags(CLI::App& command, TokenFlags& flags) {
    command.add_option("--kind", flags.kind, "Who will show it: user, worker or service")
        ->type_name("KIND")
        ->capture_default_str();
    command
        .add_option("--scope", flags.scopes,
                    "What it is for: orch:read, orch:operate, orch:admin, …, with commas")
        ->allow_extra_args(false)
        ->type_name("SCOPE");
    command
        .add_option("--types", flags.types,
                    "For workers: the job types that they may run, with commas (default: any)")
        ->allow_extra_args(false)
        ->type_name("A,B");
    command.add_flag("--all-tenants", flags.all_tenants, "Good for every tenant");
    command
        .add_option("--expires", flags.expires,
                    "After such a time, at such a time, or never (default: 90d)")
        ->type_name("90d");
}

void add_create_command(CLI::App& token, Chosen& chosen, const std::shared_ptr<TokenFlags>& flags) {
    CLI::App* command = token.add_subcommand("create", "Make an access token, and print it once");
    command->add_option("NAME", flags->name, "Whose it is")->required()->type_name("");
    add_rights_flags(*command, *flags);
    add_place_flags(*command, *flags);
    add_common_flags(*command, flags->common);
    command->footer(examples({"sluice token create ada --scope orch:operate",
                              "sluice token create press --kind worker --types greet,mail",
                              "sluice token create deployer --kind service --scope orch:operate "
                              "--expires 7d --json"}));
    on_command(*command, chosen, flags, create_token);
}

void add_list_command(CLI::App& token, Chosen& chosen, const std::shared_ptr<TokenFlags>& flags) {
    CLI::App* command = token.add_subcommand("list", "List the access tokens that are in use");
    command->add_flag("--all", flags->all, "Also those that have expired or were revoked");
    add_place_flags(*command, *flags);
    add_common_flags(*command, flags->common);
    command->footer(examples({"sluice token list --all"}));
    on_command(*command, chosen, flags, list_tokens);
}

void add_revoke_command(CLI::App& token, Chosen& chosen, const std::shared_ptr<TokenFlags>& flags) {
    CLI::App* command = token.add_subcommand("revoke", "Take an access token out of use, for good");
    command->add_option("ID", flags->id, "Its id, or how that begins")->type_name("");
    command->add_option("--name", flags->name, "The one that has this name")->type_name("NAME");
    add_place_flags(*command, *flags);
    add_common_flags(*command, flags->common);
    command->footer(
        "Every engine knows it within five seconds.\n\n" +
        examples(
            {"sluice token create temporary --quiet && sluice token revoke --name temporary"}));
    on_command(*command, chosen, flags, revoke_token);
}

}  // namespace

void add_token_commands(CLI::App& app, Chosen& chosen, OpenStoreOffice open_store) {
    CLI::App* token = app.add_subcommand("token", "Make access tokens, and look after them");
    token->require_subcommand(1);
    const auto new_flags = [&] {
        auto flags = std::make_shared<TokenFlags>();
        flags->open_store = open_store;
        return flags;
    };
    add_create_command(*token, chosen, new_flags());
    add_list_command(*token, chosen, new_flags());
    add_revoke_command(*token, chosen, new_flags());

    const auto flags = new_flags();
    CLI::App* whoami = token->add_subcommand("whoami", "Whom an engine takes this token for");
    add_common_flags(*whoami, flags->common);
    whoami->footer(examples({"sluice token whoami"}));
    on_command(*whoami, chosen, flags, who_am_i);
}

}  // namespace sluice::cli
