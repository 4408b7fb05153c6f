#include "infrastructure/jwt/key_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infrastructure/jwt/base64url.hpp"
#include "infrastructure/jwt/json_members.hpp"

namespace sluice {
namespace {

constexpr std::size_t keys_max = 100;
constexpr std::size_t rsa_bytes_min = 2048 / 8;
constexpr std::size_t rsa_bytes_max = 8192 / 8;  // larger ones take too long to check
constexpr std::size_t exponent_bytes_max = 8;

struct Curve {
    std::string_view name;
    std::string_view algorithm;
    cjose_jwk_ec_curve id;
    std::size_t coordinate_bytes;
};
constexpr auto curves = std::to_array<Curve>({
    {"P-256", "ES256", CJOSE_JWK_EC_P_256, 32},
    {"P-384", "ES384", CJOSE_JWK_EC_P_384, 48},
    {"P-521", "ES512", CJOSE_JWK_EC_P_521, 66},
});
constexpr auto rsa_algorithms =
    std::to_array<std::string_view>({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"});

using Problem = std::optional<std::string>;  // why a key is not used

constexpr const char* private_remark =
    "keys[{}] has its private part beside the public one, which is all that is needed here: "
    "whoever "
    "can read it can sign tokens";
constexpr const char* no_bytes = "its numbers must be base64url without padding";

std::optional<std::string> bytes_of_member(const JsonMembers& key, std::string_view name) {
    const auto text = key.text(name);
    auto bytes = text ? decode_base64url(*text) : std::nullopt;
    if (!bytes || bytes->empty()) return std::nullopt;
    return bytes;
}

std::uint8_t* data_of(std::string& bytes) {
    return reinterpret_cast<std::uint8_t*>(bytes.data());
}

bool has_bit(char byte, unsigned bit) {
    return (static_cast<unsigned char>(byte) & bit) != 0;
}

// The highest bit must be set for the key to have all the bits that its bytes have.
Problem problem_with_modulus(std::string_view modulus) {
    if (modulus.front() == '\0') return "\"n\" must not begin with zeros";
    const bool is_short = modulus.size() == rsa_bytes_min && !has_bit(modulus.front(), 0x80);
    if (modulus.size() < rsa_bytes_min || is_short) return "an RSA key must have 2048 bits or more";
    if (modulus.size() > rsa_bytes_max) return "an RSA key may have 8192 bits at most";
    return std::nullopt;
}

// An exponent of 1 would let every signature pass, and an even one is no exponent at all.
bool is_usable_exponent(std::string_view exponent) {
    const bool is_one = exponent.size() == 1 && exponent.front() == 1;
    return exponent.size() <= exponent_bytes_max && exponent.front() != '\0' && !is_one &&
           has_bit(exponent.back(), 1);
}

Problem read_rsa(const JsonMembers& key, VerificationKey& out) {
    auto modulus = bytes_of_member(key, "n"), exponent = bytes_of_member(key, "e");
    if (!modulus || !exponent) return no_bytes;
    if (auto problem = problem_with_modulus(*modulus)) return problem;
    if (!is_usable_exponent(*exponent)) return "\"e\" is no usable exponent";
    cjose_jwk_rsa_keyspec spec{};
    spec.n = data_of(*modulus);
    spec.nlen = modulus->size();
    spec.e = data_of(*exponent);
    spec.elen = exponent->size();
    out.jwk.reset(cjose_jwk_create_RSA_spec(&spec, nullptr));
    out.signature_bytes = modulus->size();
    out.algorithms.assign(rsa_algorithms.begin(), rsa_algorithms.end());
    return std::nullopt;
}

Problem read_ec(const JsonMembers& key, VerificationKey& out) {
    const std::string name = key.text("crv").value_or("");
    const auto curve = std::find_if(curves.begin(), curves.end(),
                                    [&](const Curve& known) { return known.name == name; });
    if (curve == curves.end()) return "\"crv\" must be P-256, P-384 or P-521";
    auto x = bytes_of_member(key, "x"), y = bytes_of_member(key, "y");
    if (!x || !y) return no_bytes;
    if (x->size() != curve->coordinate_bytes || y->size() != curve->coordinate_bytes) {
        return "\"x\" and \"y\" must be as long as the curve asks for";
    }
    cjose_jwk_ec_keyspec spec{};
    spec.crv = curve->id;
    spec.x = data_of(*x);
    spec.xlen = x->size();
    spec.y = data_of(*y);
    spec.ylen = y->size();
    out.jwk.reset(cjose_jwk_create_EC_spec(&spec, nullptr));
    out.signature_bytes = 2 * curve->coordinate_bytes;
    out.algorithms = {curve->algorithm};
    return std::nullopt;
}

Problem read_numbers(const JsonMembers& key, VerificationKey& out) {
    const std::string type = key.text("kty").value_or("");
    if (type == "RSA") return read_rsa(key, out);
    if (type == "EC") return read_ec(key, out);
    if (type == "oct") return "it is symmetric: whoever can check could also sign";
    return "\"kty\" must be RSA or EC";
}

// Refuses a key that is meant for something else.
Problem problem_with_purpose(const JsonMembers& key) {
    if (key.has("use") && key.text("use") != "sig") return "\"use\" is not \"sig\"";
    if (!key.has("key_ops")) return std::nullopt;
    const auto operations = key.texts("key_ops").value_or(std::vector<std::string>{});
    const bool verifies =
        std::find(operations.begin(), operations.end(), "verify") != operations.end();
    return verifies ? Problem{} : "\"key_ops\" does not have \"verify\"";
}

Problem read_key(const JsonMembers& key, VerificationKey& out) {
    out.id = key.text("kid").value_or("");
    if (key.has("kid") && out.id.empty()) return "\"kid\" must be a text";
    if (auto problem = problem_with_purpose(key)) return problem;
    if (auto problem = read_numbers(key, out)) return problem;
    if (out.jwk == nullptr) return "its numbers make no key";
    if (key.has("alg")) {
        const std::string named = key.text("alg").value_or("");
        std::erase_if(out.algorithms, [&](std::string_view one) { return one != named; });
    }
    return out.algorithms.empty() ? "\"alg\" does not fit the kind of key" : Problem{};
}

void remark_on_ids(const std::vector<VerificationKey>& keys, std::vector<std::string>& remarks) {
    for (std::size_t i = 0; i < keys.size() && keys.size() > 1; ++i) {
        if (keys[i].id.empty()) {
            remarks.emplace_back("a key without \"kid\" is not used, since there are others");
        }
        const auto is_twin = [&](const VerificationKey& key) { return key.id == keys[i].id; };
        const auto rest = keys.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (!keys[i].id.empty() && std::any_of(rest, keys.end(), is_twin)) {
            remarks.emplace_back("keys that have the same \"kid\" are not used");
        }
    }
}

}  // namespace

const VerificationKey* KeySet::find(std::string_view id) const {
    const VerificationKey* found = nullptr;
    for (const VerificationKey& key : keys_) {
        if (id.empty() || key.id != id) continue;
        if (found != nullptr) return nullptr;
        found = &key;
    }
    return found;
}

Result<ReadKeys> read_jwks(std::string_view text) {
    const auto members = JsonMembers::read(text);
    const auto elements = members ? members->elements("keys") : std::nullopt;
    if (!elements) return Error{ErrorCode::malformed, "is not a JWKS: {\"keys\": […]}", ""};
    if (elements->size() > keys_max) {
        return Error{ErrorCode::too_large,
                     fmt::format("has {} keys; at most {} are read", elements->size(), keys_max),
                     ""};
    }
    std::vector<VerificationKey> keys;
    std::vector<std::string> remarks;
    for (std::size_t i = 0; i < elements->size(); ++i) {
        const auto members_of_key = JsonMembers::read((*elements)[i]);
        VerificationKey key;
        const Problem problem = members_of_key ? read_key(*members_of_key, key)
                                               : "it is not an object, or has a member twice";
        if (problem) {
            remarks.push_back(fmt::format("keys[{}] is not used: {}", i, *problem));
            continue;
        }
        if (members_of_key->has("d"))
            remarks.push_back(fmt::format(fmt::runtime(private_remark), i));
        keys.push_back(std::move(key));
    }
    if (keys.empty()) {
        const std::string why = remarks.empty()
                                    ? ": \"keys\" is empty; RSA and EC public keys are used"
                                    : ": " + remarks.front();
        return Error{ErrorCode::invalid, "has no usable key" + why, ""};
    }
    remark_on_ids(keys, remarks);
    return ReadKeys{std::make_shared<const KeySet>(std::move(keys)), std::move(remarks)};
}

}  // namespace sluice
