// Tenants: no answer to one has data of another.
#include <cctype>
#include <functional>
#include <map>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

constexpr std::size_t id_digits = 24;

using Owners = std::map<std::string, std::string, std::less<>>;  // of marks and ids

Owners all_owners(const Evidence& evidence) {
    Owners owners;
    for (const auto& [id, job] : evidence.jobs) owners[id] = job.tenant();
    for (const auto& [id, gone] : evidence.gone) owners[id] = gone.tenant;
    for (const Operation& operation : evidence.operations) {
        if (operation.op == "submit") owners[operation.ref] = operation.tenant;
    }
    return owners;
}

void each_text(const Json& value, const std::function<void(std::string_view)>& look) {
    if (value.is_string()) look(value.as_string());
    if (value.is_array()) {
        for (const Json& item : value.as_array()) each_text(item, look);
    }
    if (value.is_object()) {
        for (const auto& [name, member] : value.as_object()) each_text(member, look);
    }
}

// The ids of jobs in a text, as leases and messages have them.
void each_id(std::string_view text, const std::function<void(std::string_view)>& look) {
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])) != 0) continue;
        if (i - start == id_digits) look(text.substr(start, id_digits));
        start = i + 1;
    }
}

// A client's own words may come back to it: "there is no job …".
bool was_said(const Operation& operation, std::string_view word) {
    return serialize(operation.args).find(word) != std::string::npos;
}

void look_at_answer(const Operation& operation, const Owners& owners, Row& row) {
    const auto look = [&](std::string_view word) {
        const auto owner = owners.find(word);
        if (owner == owners.end()) return;
        const bool is_own = owner->second == operation.tenant;
        row.expect(is_own || was_said(operation, word), operation.actor,
                   operation.op + " for " + operation.tenant + " was told " + std::string(word) +
                       " of " + owner->second);
    };
    each_text(operation.result, [&](std::string_view text) {
        look(text);
        if (text.size() > id_digits) each_id(text, look);
    });
}

}  // namespace

// No mark and no id of one tenant's jobs is in an answer to another, or in its streams; and a
// request about another's job is answered that there is none.
void tenants_are_apart(const Evidence& evidence, const Limits&, Row& row) {
    const Owners owners = all_owners(evidence);
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_part) look_at_answer(operation, owners, row);
    }
    for (const Operation& trespass : evidence.trespasses) {
        look_at_answer(trespass, owners, row);
        if (trespass.outcome == Outcome::info) continue;
        row.expect(
            trespass.status == 404 && trespass.code == "not_found", trespass.job,
            trespass.op + " by another tenant was answered " + std::to_string(trespass.status));
    }
}

}  // namespace sluice::checker
