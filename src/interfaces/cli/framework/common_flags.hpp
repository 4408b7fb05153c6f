#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interfaces/cli/framework/command.hpp"
#include "sluice/client.hpp"

namespace sluice::cli {

enum class OutputFormat {
    automatic,  // a table on a terminal, tab-separated lines elsewhere
    table,
    wide,
    plain,
    json,
    jsonl,
    name,
};

// The address of the engine, and the settings of the connection to it.
struct ConnectionFlags {
    std::string server = client::default_server;
    std::string token{};
    std::string token_file{};  // before `token`, when both are given
    std::string tenant{};
    std::string ca_file{};
    bool no_colour = false;
    bool quiet = false;
};

inline constexpr const char* connection_heading = "Connection and output";  // in --help

void add_connection_flags(Command& command, ConnectionFlags& flags);

// The token that they choose: --token-file, --token, SLUICE_TOKEN, the file that SLUICE_TOKEN_FILE
// names, in this order; or none.
std::string token_of(const ConnectionFlags& flags);

// The flags of every command that asks an engine.
struct CommonFlags : ConnectionFlags {
    std::string output{};
    bool json = false;
    std::string fields{};
    std::string request_timeout{};
    bool show_curl = false;
};

// Whether the command's own --timeout means something else.
enum class TimeoutFlag { of_requests, of_the_command };

void add_common_flags(Command& command, CommonFlags& flags,
                      TimeoutFlag timeout = TimeoutFlag::of_requests);

const std::vector<std::string>& output_formats();
const std::vector<std::string>& state_names();  // of jobs

// The rest give the meaning of flags. They throw CommandError (usage) and name the flag.
OutputFormat output_format(const CommonFlags& flags);
client::Millis duration_flag(const std::string& flag, const std::string& text);
client::Time time_flag(const std::string& flag, const std::string& text);

// As RFC 3339: a time, or a duration from now on; with `sign` -1, a duration back from now.
std::string moment_flag(const std::string& flag, const std::string& text, int sign);

// The parts of a text between commas, without empty ones.
std::vector<std::string> comma_list(std::string_view text);
std::vector<std::string> comma_lists(const std::vector<std::string>& texts);  // all of them

// Checks that the word is one of a fixed set; throws with the nearest one.
void check_word(const std::string& what, const std::string& word,
                const std::vector<std::string>& known);

}  // namespace sluice::cli
