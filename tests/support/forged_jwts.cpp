#include "support/forged_jwts.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

// Makes the tokens, one kind of mistake after the other.
class Forger {
  public:
    Forger(const JwtIssuer& issuer, Timestamp now)
        : issuer_(issuer),
          now_(now),
          claims_(json_text(JwtIssuer::claims(now))),
          good_rsa_(issuer.token(JwtIssuer::header("RS256", "rsa"), JwtIssuer::claims(now))),
          good_(issuer.token(now)) {}

    std::vector<ForgedJwt> all() {
        name_algorithms();
        take_secrets_for_keys();
        name_keys();
        break_form();
        break_encoding();
        break_json();
        break_signatures();
        change_headers();
        change_times();
        change_addressees();
        change_callers();
        return std::move(all_);
    }

  private:
    void add(std::string name, std::string token) {
        all_.push_back({std::move(name), std::move(token)});
    }
    // Signed as if it were a good one.
    void add_header(const std::string& name, const std::string& header) {
        add(name, issuer_.token_of_texts("ec-256", "ES256", header, claims_));
    }
    void add_claims(const std::string& name, const std::string& claims) {
        add(name, issuer_.token_of_texts("ec-256", "ES256", good_header, claims));
    }
    void add_claim(const std::string& name, const std::string& value) {
        add(fmt::format("{} is {}", name, value.empty() ? "absent" : value.substr(0, 40)),
            issuer_.token(now_, {{name, value}}));
    }
    std::string later(std::int64_t seconds) const {
        return std::to_string(to_micros(now_) / 1'000'000 + seconds);
    }
    static std::string part(const std::string& token, int index) {
        std::size_t begin = 0;
        for (int i = 0; i < index; ++i) begin = token.find('.', begin) + 1;
        return token.substr(begin, token.find('.', begin) - begin);
    }
    std::string signed_part() const { return part(good_, 0) + "." + part(good_, 1); }

    void name_algorithms() {
        for (const char* none : {"none", "None", "nOnE", "NONE", ""}) {
            const std::string header = fmt::format(R"({{"alg":"{}","kid":"ec-256"}})", none);
            add(fmt::format("alg \"{}\" without a signature", none),
                join_token(header, claims_, ""));
            add_header(fmt::format("alg \"{}\" with a good signature", none), header);
        }
        add_header("alg is absent", R"({"kid":"ec-256"})");
        for (const char* alg :
             {"null", "1", R"(["ES256"])", R"("es256")", R"("ES256 ")", R"("ES384")", R"("RS256")",
              R"("HS256")", R"("EdDSA")", R"("dir")"}) {
            add_header(fmt::format("alg is {}", alg),
                       fmt::format(R"({{"alg":{},"kid":"ec-256"}})", alg));
        }
        const auto crossed = [&](const std::string& key, const std::string& alg,
                                 const std::string& signed_as) {
            const std::string header = json_text(JwtIssuer::header(alg, key));
            add(fmt::format("{} names {}, signed as {}", key, alg, signed_as),
                issuer_.token_of_texts(key, signed_as, header, claims_));
        };
        crossed("rsa", "RS256", "PS256");
        crossed("rsa", "PS256", "RS256");
        crossed("rsa", "RS256", "RS384");
        crossed("rsa-ps256", "RS256", "RS256");
        crossed("rsa-ps256", "PS384", "PS384");
        crossed("ec-384", "ES256", "ES256");
        crossed("ec-256", "ES512", "ES512");
    }

    // The public key as the secret of a symmetric signature, which a check that trusts the header
    // would accept.
    void take_secrets_for_keys() {
        const JsonObject jwk = issuer_.key("rsa").public_jwk();
        const auto add_hmac = [&](const std::string& name, const std::string& key_id,
                                  const std::string& secret) {
            const std::string header = json_text(JwtIssuer::header("HS256", key_id));
            const std::string text = base64url(header) + "." + base64url(claims_);
            add("HS256 with " + name, text + "." + base64url(hmac_sha256(secret, text)));
        };
        add_hmac("the RSA public key as PEM", "rsa", issuer_.key("rsa").public_pem());
        add_hmac("the RSA modulus", "rsa", jwk.at("n").substr(1, jwk.at("n").size() - 2));
        add_hmac("the public JWK", "rsa", json_text(jwk));
        add_hmac("the EC public key as PEM", "ec-256", issuer_.key("ec-256").public_pem());
        add_hmac("an empty secret", "rsa", "");
        add_hmac("the symmetric key of the JWKS", "secret", "hush hush");
    }

    void name_keys() {
        const auto with_key = [&](const std::string& name, const std::string& value) {
            add_header("kid is " + name, fmt::format(R"({{"alg":"ES256","kid":{}}})", value));
        };
        add_header("kid is absent, and there are several keys", R"({"alg":"ES256"})");
        with_key("unknown", R"("ec-257")");
        with_key("a path", R"("../../dev/null")");
        with_key("SQL", R"("' OR 1=1 --")");
        with_key("empty", R"("")");
        with_key("null", "null");
        with_key("a number", "0");
        with_key("an array", R"(["ec-256"])");
        with_key("in capitals", R"("EC-256")");
        with_key("longer by a space", R"("ec-256 ")");
        with_key("longer by a NUL", R"("ec-256\u0000")");
        with_key("4 kB long", "\"" + std::string(4096, 'k') + "\"");
        with_key("that of two keys", R"("twin")");
        for (const char* id : {"twin", "no-signature"}) {
            add(fmt::format("signed with {}", id),
                issuer_.token(JwtIssuer::header("ES256", id), JwtIssuer::claims(now_)));
        }
        for (const char* id : {"weak", "encryption", "stranger"}) {
            add(fmt::format("signed with {}", id),
                issuer_.token(JwtIssuer::header("RS256", id), JwtIssuer::claims(now_)));
        }
        const std::string header = json_text(JwtIssuer::header("RS256", "rsa"));
        add("signed by a stranger in the name of our key",
            issuer_.token_of_texts("stranger", "RS256", header, claims_));
        bring_own_key();
    }

    void bring_own_key() {
        const std::string jwk = json_text(issuer_.key("stranger-ec").public_jwk());
        for (const auto& [name, value] : JsonObject{
                 {"jwk", jwk},
                 {"jku", R"("https://stranger.example/jwks")"},
                 {"x5u", R"("https://stranger.example/cert")"},
                 {"x5c", R"(["MIIB"])"},
             }) {
            const std::string header =
                json_text(with(JwtIssuer::header("ES256", "ec-256"), {{name, value}}));
            add("a stranger's " + name,
                issuer_.token_of_texts("stranger-ec", "ES256", header, claims_));
        }
        add("a stranger's jwk, without kid",
            issuer_.token_of_texts("stranger-ec", "ES256",
                                   fmt::format(R"({{"alg":"ES256","jwk":{}}})", jwk), claims_));
    }

    void break_form() {
        add("empty", "");
        add("one part", "abc");
        add("two parts", signed_part());
        add("two dots and nothing else", "..");
        add("four parts", good_ + "." + part(good_, 2));
        add("five parts, as an encrypted token has", good_ + "..");
        add("no header", "." + part(good_, 1) + "." + part(good_, 2));
        add("no claims", part(good_, 0) + ".." + part(good_, 2));
        add("no signature", signed_part() + ".");
        add("a dot more in front", "." + good_);
        add("a dot more at the end", good_ + ".");
        add("an API token", "sl_1234567890abcdef");
        add("JSON in place of the compact form",
            fmt::format(R"({{"payload":"{}","protected":"{}","signature":"{}"}})", part(good_, 1),
                        part(good_, 0), part(good_, 2)));
        add("over 8 KiB", issuer_.token(now_, {{"more", "\"" + std::string(8192, 'x') + "\""}}));
    }

    void break_encoding() {
        add("a padding sign at the end", good_ + "=");
        add("padding in the header",
            part(good_, 0) + "==." + part(good_, 1) + "." + part(good_, 2));
        add("a character too many", good_ + "A");
        add("characters of the other base64", signed_part() + "." + std::string(85, '+') + "/");
        add("characters outside of ASCII", signed_part() + ".\xC3\xA4" + part(good_, 2).substr(2));
        std::string changed = good_;
        changed[part(good_, 0).size() + 2] = '*';
        add("an asterisk in the claims", changed);
        // 64 bytes leave four bits of the last character, 256 bytes two; they must be zero.
        for (const std::string& token : {good_, good_rsa_}) {
            std::string other = token;
            other.back() = static_cast<char>(other.back() + 1);
            add("bits left over in the signature of " + part(token, 0).substr(0, 15), other);
        }
    }

    void break_json() {
        add_header("the header is no JSON", "ES256");
        add_header("the header is an array", R"(["ES256"])");
        add_header("the header goes on after its end", std::string(good_header) + "x");
        add_header("the header has alg twice", R"({"alg":"ES256","kid":"ec-256","alg":"none"})");
        add_header("the header has kid twice, once escaped",
                   R"({"alg":"ES256","kid":"ec-256","\u006bid":"rsa"})");
        add_header("the header begins with a byte order mark",
                   "\xEF\xBB\xBF" + std::string(good_header));
        add_claims("the claims are empty", "");
        add_claims("the claims are a text", "\"" + std::string("ada") + "\"");
        add_claims("the claims are an array", "[" + claims_ + "]");
        add_claims("the claims are cut off", claims_.substr(0, claims_.size() - 1));
        add_claims("the claims go on after their end", claims_ + claims_);
        const std::string open = claims_.substr(0, claims_.size() - 1);
        add_claims("exp twice", open + ",\"exp\":" + later(9'000) + "}");
        add_claims("exp twice, once escaped", open + ",\"\\u0065xp\":" + later(9'000) + "}");
        add_claims("sub twice", open + R"(,"sub":"root"})");
        add_claims("claims that are not UTF-8", open + ",\"x\":\"\xC0\x80\"}");
        add_claims("half a surrogate", open + R"(,"x":"\ud800"})");
        add_claims("claims too deep",
                   open + ",\"x\":" + std::string(200, '[') + std::string(200, ']') + "}");
        add_claims("a comment", open + "/* */}");
    }

    void break_signatures() {
        const std::string text = signed_part();
        const auto add_signature = [&](const std::string& name, const std::string& bytes) {
            add(name, text + "." + base64url(bytes));
        };
        const std::string raw = issuer_.key("ec-256").sign("ES256", text);
        const std::string order =  // of the curve, which is zero there
            "\xFF\xFF\xFF\xFF" + std::string(4, '\0') + std::string(8, '\xFF') +
            "\xBC\xE6\xFA\xAD\xA7\x17\x9E\x84\xF3\xB9\xCA\xC2\xFC\x63\x25\x51";
        const std::string zero(32, '\0'), one = std::string(31, '\0') + '\1';
        add_signature("ES256 with r and s zero", zero + zero);
        add_signature("ES256 with r zero", zero + raw.substr(32));
        add_signature("ES256 with s zero", raw.substr(0, 32) + zero);
        add_signature("ES256 with r and s one", one + one);
        add_signature("ES256 with r and s the order", order + order);
        add_signature("ES256 as DER", issuer_.key("ec-256").sign_der(text));
        add_signature("ES256 without its last byte", raw.substr(0, 63));
        add_signature("ES256 with half of it", raw.substr(0, 32));
        add_signature("ES256 with a byte more", raw + '\0');
        add_signature("ES256 with zeros in front of both numbers",
                      '\0' + raw.substr(0, 32) + '\0' + raw.substr(32));
        add_signature("ES256 of other claims", issuer_.key("ec-256").sign("ES256", "other"));
        std::string flipped = raw;
        flipped[40] = static_cast<char>(flipped[40] ^ 1);
        add_signature("ES256 with a bit flipped", flipped);
        const std::string more = issuer_.token(now_, {{"scope", "\"orch:admin\""}});
        add("the claims of another token",
            part(good_, 0) + "." + part(more, 1) + "." + part(good_, 2));
        const std::string rsa = part(good_rsa_, 0) + "." + part(good_rsa_, 1) + ".";
        add("RS256 of zeros", rsa + base64url(std::string(256, '\0')));
        add("RS256 of one", rsa + base64url(std::string(255, '\0') + '\1'));
        add("RS256 over the modulus", rsa + base64url(std::string(256, '\xFF')));
        add("RS256 without its end", good_rsa_.substr(0, good_rsa_.size() - 4));
        const std::string header = json_text(JwtIssuer::header("ES512", "ec-521"));
        add("ES512 with r and s zero", join_token(header, claims_, std::string(132, '\0')));
    }

    void change_headers() {
        const auto changed = [&](const std::string& name, const std::string& value) {
            add_header(fmt::format("{} is {}", name, value),
                       json_text(with(JwtIssuer::header("ES256", "ec-256"), {{name, value}})));
        };
        changed("crit", R"(["exp"])");
        changed("crit", R"(["http://example.com/unknown"])");
        changed("crit", "[]");
        changed("crit", "null");
        changed("b64", "false");
        changed("typ", R"("JOSE")");
        changed("typ", R"("id+jwt")");
        changed("typ", R"("dpop+jwt")");
        changed("typ", R"("")");
        changed("typ", "null");
        changed("typ", "[\"JWT\"]");
    }

    void change_times() {
        for (const std::string& value :
             {std::string(), later(-61), later(-86'400), std::string("0"), std::string("-1"),
              std::string("1e20"), std::string("1e308"), "\"" + later(600) + "\"",
              std::string("null"), std::string("true"), "[" + later(600) + "]",
              std::string("99999999999999999999")}) {
            add_claim("exp", value);
        }
        for (const std::string& value :
             {later(120), later(86'400), "\"" + later(-10) + "\"", std::string("null"),
              std::string("-5"), std::string("1e20")}) {
            add_claim("nbf", value);
            add_claim("iat", value);
        }
    }

    void change_addressees() {
        for (const char* value :
             {"", R"("other")", R"("sluice2")", R"("sluic")", R"("SLUICE")", R"("sluice ")",
              R"("other sluice")", "[]", R"(["other"])", R"([["sluice"]])", R"(["sluice",1])",
              R"({"sluice":true})", "null", "true"}) {
            add_claim("aud", value);
        }
        for (const char* value :
             {"", R"("https://issuer.example/")", R"("https://issuer.exampl")",
              R"("https://issuer.example.stranger.example")", R"("HTTPS://ISSUER.EXAMPLE")",
              R"("")", R"(["https://issuer.example"])", "null"}) {
            add_claim("iss", value);
        }
    }

    void change_callers() {
        const std::string long_name = "\"" + std::string(201, 'a') + "\"";
        for (const std::string& value :
             {std::string(), std::string(R"("")"), std::string("1"), std::string("null"),
              std::string(R"(["ada"])"), long_name, std::string(R"("a\nb")"),
              std::string(R"("ada\u0000")"), std::string(R"("\u007f")")}) {
            add_claim("sub", value);
            add_claim("tenant", value);
        }
        add_claim("tenant", R"("@engine")");  // such names are the engine's own
        for (const char* value : {R"("root")", R"("User")", R"("")", "1", "null", R"(["user"])"}) {
            add_claim("kind", value);
        }
        for (const char* value : {"1", "null", R"({"orch:admin":true})", R"(["orch:read",1])"}) {
            add_claim("scope", value);
        }
        for (const char* types : {"[]", "1", "null", R"([""])", R"(["a\nb"])", R"("")"}) {
            add(fmt::format("a worker whose job_types are {}", types),
                issuer_.token(now_, {{"kind", R"("worker")"}, {"job_types", types}}));
        }
        add("a worker without a tenant",
            issuer_.token(now_, {{"kind", R"("worker")"}, {"tenant", ""}}));
    }

    static constexpr const char* good_header = R"({"alg":"ES256","kid":"ec-256","typ":"JWT"})";

    const JwtIssuer& issuer_;
    const Timestamp now_;
    const std::string claims_;
    const std::string good_rsa_;
    const std::string good_;
    std::vector<ForgedJwt> all_;
};

}  // namespace

std::vector<ForgedJwt> forged_jwts(const JwtIssuer& issuer, Timestamp now) {
    return Forger(issuer, now).all();
}

}  // namespace sluice
