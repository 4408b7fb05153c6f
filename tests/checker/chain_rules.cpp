// The chain of hashes, computed anew from what it is said to cover.
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

// Texts with their length before them, numbers with a semicolon after them.
std::string form_of(const Json& row) {
    std::string form = "14:sluice event 1";
    for (const char* name :
         {"job", "seq", "step", "from", "to", "attempt", "lease", "at", "log_seq"}) {
        form += fmt::format("{};", number(row, name));
    }
    for (const char* name : {"actor", "detail", "result"}) {
        const bool is_covered =
            std::string_view(name) != "result" || number(row, "to") >= first_final_state;
        const std::string field = text(row, name);
        if (is_covered) form += fmt::format("{}:{}", field.size(), field);
    }
    return form;
}

std::string hash_after(const std::string& previous, const Json& row) {
    const std::string covered = bytes_of(previous) + form_of(row);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(covered.data()), covered.size(), digest.data());
    return hex_of({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace

// Each row's hash is that of its fields and of the hash before it; rows and events are the same.
// The first row hangs on the job's spec, of which the checker sees too little: `audit verify` does
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

}  // namespace sluice::checker
