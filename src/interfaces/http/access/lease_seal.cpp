#include "interfaces/http/access/lease_seal.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t id_digits = 24 + 1 + 16;
constexpr std::size_t seal_digits = 32;

}  // namespace

std::string LeaseSeal::seal_of(std::string_view id) const {
    return to_hex(sha256(*key_, id)).substr(0, seal_digits);
}

std::string LeaseSeal::text(LeaseId lease) const {
    std::string text = to_text(lease);
    if (key_) text += '-' + seal_of(text);
    return text;
}

std::optional<LeaseId> LeaseSeal::read(std::string_view text) const {
    if (!key_) return parse_lease_id(text);
    if (text.size() != id_digits + 1 + seal_digits || text[id_digits] != '-') return std::nullopt;
    const std::string_view id = text.substr(0, id_digits);
    const bool is_genuine = is_same_secret(sha256(text.substr(id_digits + 1)), sha256(seal_of(id)));
    return is_genuine ? parse_lease_id(id) : std::nullopt;
}

}  // namespace sluice::http
