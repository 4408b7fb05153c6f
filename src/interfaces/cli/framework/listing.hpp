#pragma once

#include <string>
#include <vector>

#include "interfaces/cli/framework/session.hpp"
#include "interfaces/cli/terminal/json_object.hpp"

namespace sluice::cli {

struct Column {
    std::string field{};  // of the API's object
    std::string header{};
};

// The form of one kind of object in each format.
struct Listing {
    std::string name{};                 // of the list in the API's document
    std::string id_field{};             // the field that -o name prints
    std::vector<std::string> fields{};  // all that --fields may name
    std::vector<Column> table{};
    std::vector<Column> wide{};  // the columns that -o wide adds
    std::vector<std::string> plain{};
};

// The API's document without its list, e.g. {"next_cursor":null}: the other part of the output of
// --json.
struct Document {
    std::string json{};       // the whole answer, when it is shown as it came
    std::string more_name{};  // the member after the list; empty: none
    std::string more{};       // its JSON
};

// Prints the objects as the session's format says. Throws, before anything is printed, when
// --fields names an unknown field.
void print_listing(const Session& session, const Listing& listing,
                   const std::vector<std::string>& objects, const Document& document);

// Prints one object: for tables and plain a line per field.
void print_object(const Session& session, const Listing& listing, const std::string& object);

// The value of a field, as a terminal shows it: times as ages, attempts as "2/3".
std::string cell_text(const JsonObject& object, const std::string& field);

Style state_style(std::string_view state);
const char* state_symbol(const Screen& screen, std::string_view state);

const Listing& job_listing();
const Listing& event_listing();
const Listing& log_listing();
const Listing& worker_listing();
const Listing& entity_listing();
const Listing& token_listing();
const Listing& caller_listing();

}  // namespace sluice::cli
