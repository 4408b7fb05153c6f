#include "application/secrets/secret_forms.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "domain/values/ascii.hpp"

namespace sluice {
namespace {

// Long secrets are looked for in pieces, so that no text makes a search slow.
constexpr std::size_t piece_bytes = 240;

// The password in "scheme://user:password@host"; empty: there is none.
std::string_view password_in_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    std::string_view rest = url.substr(scheme + 3);
    rest = rest.substr(0, rest.find('/'));
    const std::size_t at = rest.rfind('@');
    if (at == std::string_view::npos) return {};
    const std::size_t colon = rest.find(':');
    return colon < at ? rest.substr(colon + 1, at - colon - 1) : std::string_view();
}

// The end of the piece that the line begins with: between two characters.
std::size_t piece_end(std::string_view line) {
    std::size_t end = piece_bytes;
    while ((static_cast<unsigned char>(line[end]) & 0xC0) == 0x80 && end > 1) --end;
    return end;
}

// Words that stand before a secret and occur in every log.
bool is_scheme(std::string_view word) {
    constexpr std::array<std::string_view, 4> schemes{"bearer", "digest", "apikey", "negotiate"};
    return std::find(schemes.begin(), schemes.end(), lowered(word)) != schemes.end();
}

// Calls `take` with the parts between the separators.
template <class Take>
void split(std::string_view text, std::string_view separators, Take take) {
    for (;;) {
        const std::size_t end = text.find_first_of(separators);
        take(text.substr(0, end));
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

class Texts {
  public:
    bool is_full() const { return secrets_.size() == SecretBounds::secrets_max; }

    void add_secret(const std::string& secret) {
        if (secret.size() < SecretBounds::bytes_min || !secrets_.insert(secret).second) return;
        split(secret, "\r\n", [&](std::string_view line) { add_line(line); });
        add_line(password_in_url(secret));
    }

    std::vector<std::string> taken() { return std::move(texts_); }

  private:
    void add_line(std::string_view line) {
        // The first and last line of a key in PEM have no secret words.
        if (line.find(' ') != std::string_view::npos && !line.starts_with("-----")) {
            split(line, " ", [&](std::string_view word) {
                if (!is_scheme(word)) add_whole(word);
            });
        }
        add_whole(line);
    }

    void add_whole(std::string_view line) {
        while (line.size() > piece_bytes + SecretBounds::bytes_min) {
            const std::size_t length = piece_end(line);
            add(line.substr(0, length));
            line.remove_prefix(length);
        }
        add(line);
    }

    void add(std::string_view text) {
        if (text.size() < SecretBounds::bytes_min || text.size() > bytes_left_) return;
        if (texts_.size() == SecretBounds::texts_max || !known_.emplace(text).second) return;
        bytes_left_ -= text.size();
        texts_.emplace_back(text);
    }

    std::size_t bytes_left_ = SecretBounds::bytes_max;
    std::set<std::string> secrets_;
    std::set<std::string> known_;
    std::vector<std::string> texts_;
};

// The letters that the bytes have in base64 when `before` bytes of unknown content stand before
// them in their group of three, and unknown ones follow: those that depend on these bytes alone.
std::string base64_inside(std::string_view bytes, std::size_t before) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t first_bit = before * 8;
    const std::size_t end_bit = first_bit + bytes.size() * 8;
    std::string out;
    for (std::size_t bit = (first_bit + 5) / 6 * 6; bit + 6 <= end_bit; bit += 6) {
        const std::size_t at = bit - first_bit;
        const auto byte = [&](std::size_t i) {
            return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
        };
        const unsigned two_bytes = byte(at / 8) << 8 | byte(at / 8 + 1);
        out.push_back(letters[(two_bytes >> (10 - at % 8)) & 63u]);
    }
    return out;
}

std::string base64_for_urls(std::string text) {
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

}  // namespace

std::vector<std::string> texts_of_secrets(const std::vector<std::string>& secrets) {
    Texts texts;
    for (const std::string& secret : secrets) {
        if (texts.is_full()) break;
        texts.add_secret(secret);
    }
    return texts.taken();
}

std::vector<std::string> lines_of_settings(const std::vector<std::string>& values) {
    std::vector<std::string> lines;
    for (const std::string& value : values) {
        split(value, "\r\n", [&](std::string_view line) {
            if (line.size() < SecretBounds::setting_bytes_min || line.starts_with("-----")) return;
            lines.emplace_back(line);
        });
    }
    return lines;
}

std::vector<std::string> forms_of_text(const std::string& text) {
    std::vector<std::string> forms{text};
    for (std::size_t before = 0; before < 3; ++before) {
        std::string encoded = base64_inside(text, before);
        std::string for_urls = base64_for_urls(encoded);
        if (for_urls != encoded) forms.push_back(std::move(for_urls));
        forms.push_back(std::move(encoded));
    }
    return forms;
}

}  // namespace sluice
