#pragma once

#include <string>
#include <vector>

#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/limits/rule_flags.hpp"

// Rules as they are shown, and the answers to changes of them.
namespace sluice::cli {

// Rules, with fields of their own for people: "covers" says which jobs, "use" how many run of those
// that may ("8/8"), "starts" the rate, "held" how many wait, "closed" what stops them, "origin" who
// made it, "submits" whether jobs are taken meanwhile.
const Listing& rule_listing();

// "tenant acme, type scan.*, each source"
std::string covers_text(const JsonObject& rule);

// `name`: what they are called when there is none, like "quotas".
void print_rules(const Session& session, const std::string& document, const char* name);
void print_rule(const Session& session, const std::string& rule);  // with its meters

// What a change has done: the ids of its rules on standard output, and what it holds back or lets
// go as a message.
void print_change(const Session& session, const ChangeFlags& flags, const std::string& answer);

// The number of this name: "1000+" when the object says that there are more.
std::string capped_text(const JsonObject& object, const std::string& name);

// The object with such a number as a field of its own, which is called `shown`.
std::string with_capped(const std::string& json, const std::string& name, const std::string& shown);

// The elements of the document's list, whatever that is called.
std::vector<std::string> listed(const std::string& document);

}  // namespace sluice::cli
