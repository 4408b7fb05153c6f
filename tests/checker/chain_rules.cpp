// The chain of hashes, computed anew from the rows.
#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

constexpr std::int64_t first_final_state = 2;

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::string bytes_of(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

std::string digest_of(const std::string& covered) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(covered.data()), covered.size(), digest.data());
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Texts with their length before them, numbers with a semicolon after them.
std::string form_of(std::string_view text) {
    return fmt::format("{}:{}", text.size(), text);
}
std::string form_of(std::int64_t number) {
    return fmt::format("{};", number);
}

// A line is [seq, attempt, level, at, event_seq, message, data].
std::string digest_of_lines(const Json& row) {
    constexpr std::size_t message = 5;
    std::string digest(SHA256_DIGEST_LENGTH, '\0');
    for (const Json& line : list(row, "lines")) {
        std::string form = form_of("sluice log line 1");
        const auto& values = line.as_array();
        for (std::size_t i = 0; i < values.size(); ++i) {
            form += i < message ? form_of(values[i].as_int64())
                                : form_of(std::string_view(values[i].as_string()));
        }
        digest = digest_of(digest + form);
    }
    return digest;
}

// Lines are covered since the second form of histories.
std::string event_form(const Json& row) {
    std::string form = form_of("sluice event 1");
    for (const char* name :
         {"job", "seq", "step", "from", "to", "attempt", "lease", "at", "log_seq"}) {
        form += form_of(number(row, name));
    }
    for (const char* name : {"actor", "detail"}) form += form_of(text(row, name));
    if (number(row, "to") >= first_final_state) form += form_of(text(row, "result"));
    const bool covers_lines = number(row, "form") > 1 && number(row, "log_seq") > 0;
    return covers_lines ? form + form_of(digest_of_lines(row)) : form;
}

std::string hash_after(const std::string& previous, const Json& row) {
    return hex_of(digest_of(bytes_of(previous) + event_form(row)));
}

std::string name_of(const Json& entity_row) {
    return text(entity_row, "tenant") + ' ' + text(entity_row, "kind") + ' ' +
           text(entity_row, "id");
}

std::string entity_start(const Json& row) {
    std::string form = form_of("sluice entity 1");
    for (const char* name : {"tenant", "kind", "id"}) form += form_of(text(row, name));
    return digest_of(form + form_of(number(row, "number")) + form_of(number(row, "created_at")));
}

std::string entity_hash_after(const std::string& previous, const Json& row) {
    std::string form = form_of("sluice entity event 1");
    for (const char* name : {"tenant", "kind", "id", "action", "from", "to", "actor", "detail"}) {
        form += form_of(text(row, name));
    }
    for (const char* name : {"seq", "at", "job"}) form += form_of(number(row, name));
    return digest_of(previous + form);
}

// Attributes as the stored text, with the members in the order of their names.
std::string entity_seal(const Json& row) {
    std::string form = form_of("sluice entity state 1");
    for (const char* name : {"parent", "state"}) form += form_of(text(row, name));
    for (const char* name : {"revision", "updated_at"}) form += form_of(number(row, name));
    boost::system::error_code error;
    const Json attributes = boost::json::parse(text(row, "attributes"), error);
    if (!attributes.is_object()) return "attributes that are no object";
    for (const auto& [name, value] : attributes.as_object()) {
        form += form_of(std::string_view(name.data(), name.size())) + form_of(serialize(value));
    }
    return hex_of(digest_of(bytes_of(text(row, "head")) + form));
}

// The entity's own row, which is exported with each of its events, after the last of them.
void look_at_end(const Json& last, Row& row) {
    const std::string name = name_of(last);
    row.expect(number(last, "seq") == number(last, "revision"), name,
               "has lost events, or has one too many");
    row.expect(text(last, "state") == text(last, "to"), name,
               "is in another state than its last event says");
    row.expect(text(last, "head") == text(last, "hash"), name, "knows another last event");
    row.expect(text(last, "seal") == entity_seal(last), name, "has another seal than its fields");
}

}  // namespace

// Each row's hash is that of its fields and of the hash before it; rows and events agree. The first
// row is chained to the job's spec, of which the checker sees too little: `audit verify` checks
// that.
void hashes_hang_together(const Evidence& evidence, Row& row) {
    std::set<std::string> in_rows;
    const Json* before = nullptr;
    for (const Json& stored : evidence.ledger) {
        const std::string where =
            fmt::format("{} event {}", number(stored, "job"), number(stored, "seq"));
        const std::string hash = text(stored, "hash");
        in_rows.insert(hash);
        const bool is_next = before != nullptr && number(*before, "job") == number(stored, "job");
        const std::int64_t place = is_next ? number(*before, "seq") + 1 : 1;
        row.expect(number(stored, "seq") == place, where, "is out of order in the store");
        if (is_next) {
            row.expect(hash_after(text(*before, "hash"), stored) == hash, where,
                       "has another hash than its fields and the one before it");
        }
        before = &stored;
    }
    if (evidence.ledger.empty()) return;
    for (const auto& [id, job] : evidence.jobs) {
        for (const Event& event : job.events) {
            row.expect(in_rows.contains(event.hash), id,
                       fmt::format("event {} is not in the store", event.seq));
        }
    }
}

// The same for entities, from the first event on. The entity itself has the hash of the last one,
// its number and its state, and a seal over all of itself.
void entity_hashes_hang_together(const Evidence& evidence, Row& row) {
    const Json* before = nullptr;
    std::string last;
    for (const Json& stored : evidence.entity_ledger) {
        const bool is_next = before != nullptr && name_of(*before) == name_of(stored);
        if (before != nullptr && !is_next) look_at_end(*before, row);
        const std::string where =
            fmt::format("{} event {}", name_of(stored), number(stored, "seq"));
        const std::int64_t place = is_next ? number(*before, "seq") + 1 : 1;
        row.expect(number(stored, "seq") == place, where, "is out of order in the store");
        last = entity_hash_after(is_next ? last : entity_start(stored), stored);
        row.expect(hex_of(last) == text(stored, "hash"), where,
                   "has another hash than its fields and the one before it");
        before = &stored;
    }
    if (before != nullptr) look_at_end(*before, row);
}

}  // namespace sluice::checker
