#include "application/secrets/secret_names.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t inner_mark_bytes_min = 5;

enum class Class : std::uint8_t { joint, digit, small, capital };

constexpr Class class_of(char c) {
    if (c >= 'a' && c <= 'z') return Class::small;
    if (c >= 'A' && c <= 'Z') return Class::capital;
    if (c >= '0' && c <= '9') return Class::digit;
    return static_cast<unsigned char>(c) >= 0x80 ? Class::small : Class::joint;
}

// Letters as small ones, other bytes as they are; zero for bytes that separate words.
constexpr std::array<unsigned char, 256> make_folded() {
    std::array<unsigned char, 256> folded{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const Class kind = class_of(c);
        if (kind == Class::joint) continue;
        folded[byte] = static_cast<unsigned char>(kind == Class::capital ? c - 'A' + 'a' : c);
    }
    return folded;
}
constexpr auto folded_bytes = make_folded();

constexpr unsigned char folded(char c) {
    return folded_bytes[static_cast<unsigned char>(c)];
}

// A bit for two letters, the same for small ones and capitals.
constexpr std::uint64_t bit_of(char first, char second) {
    const unsigned low = static_cast<unsigned char>(first) & 31u;
    return std::uint64_t{1} << ((low * 5 + (static_cast<unsigned char>(second) & 31u)) & 63u);
}

char capital_of(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// A name without the separators of its words, and where the words begin and end.
struct Words {
    explicit Words(std::string_view name) {
        Class before = Class::joint;
        for (std::size_t i = 0; i < name.size(); ++i) {
            const Class kind = class_of(name[i]);
            if (kind != Class::joint) {
                const Class next = i + 1 < name.size() ? class_of(name[i + 1]) : Class::joint;
                if (begins_word(before, kind, next)) begins.push_back(letters.size());
                letters.push_back(static_cast<char>(folded(name[i])));
            }
            before = kind;
        }
    }

    // The last of several capitals begins the word of the small letters behind it: APIKey.
    static bool begins_word(Class before, Class kind, Class next) {
        if (before == Class::joint || (before == Class::digit) != (kind == Class::digit)) {
            return true;
        }
        if (kind != Class::capital) return false;
        return before == Class::small || next == Class::small;
    }

    bool is_begin(std::size_t at) const {
        return std::binary_search(begins.begin(), begins.end(), at);
    }
    bool is_end(std::size_t at) const { return at == letters.size() || is_begin(at); }

    std::string letters{};
    std::vector<std::size_t> begins{};
};

bool tells_about_secret(const Words& words, std::size_t mark_end) {
    if (words.begins.back() < mark_end) return false;
    const std::string_view last = std::string_view(words.letters).substr(words.begins.back());
    const auto& about = SecretNames::about_words();
    return std::find(about.begin(), about.end(), last) != about.end();
}

}  // namespace

const std::vector<std::string>& SecretNames::usual_marks() {
    static const std::vector<std::string> marks{
        "password",    "passwd",     "passphrase",    "secret",      "token",     "api_key",
        "private_key", "access_key", "authorization", "credentials", "credential"};
    return marks;
}

const SecretNames& SecretNames::usual() {
    static const SecretNames names(usual_marks());
    return names;
}

const std::vector<std::string_view>& SecretNames::about_words() {
    static const std::vector<std::string_view> words{
        "at",   "budget", "count", "counts", "enabled",  "endpoint", "expiry", "field",
        "file", "in",     "kind",  "length", "limit",    "limits",   "name",   "names",
        "path", "policy", "ref",   "refs",   "required", "size",     "ttl",    "type",
        "uri",  "url",    "usage", "used",   "version"};
    return words;
}

bool SecretNames::is_mark(std::string_view mark) {
    return std::any_of(mark.begin(), mark.end(), [](char c) { return folded(c) != 0; });
}

SecretNames::SecretNames(const std::vector<std::string>& marks) {
    for (const std::string& mark : marks) {
        std::string letters = Words(mark).letters;
        if (letters.empty()) continue;
        if (std::find(marks_.begin(), marks_.end(), letters) != marks_.end()) continue;
        if (letters.size() < 3) {
            has_short_mark_ = true;
        } else {
            for (const char first : {letters[0], capital_of(letters[0])}) {
                next_pairs_[static_cast<unsigned char>(first)] |= bit_of(letters[1], letters[2]);
            }
        }
        marks_.push_back(std::move(letters));
    }
}

bool SecretNames::match(std::string_view name) const {
    if (!has_mark(name)) return false;
    const Words words(name);
    for (const std::string& mark : marks_) {
        for (std::size_t at = words.letters.find(mark); at != std::string::npos;
             at = words.letters.find(mark, at + 1)) {
            const std::size_t end = at + mark.size();
            if (!words.is_end(end)) continue;
            if (mark.size() < inner_mark_bytes_min && !words.is_begin(at)) continue;
            if (!tells_about_secret(words, end)) return true;
        }
    }
    return false;
}

bool SecretNames::begins_with_mark(const char* at, const char* end) const {
    const auto fits = [&](const std::string& mark) {
        const char* next = at;
        for (const char letter : mark) {
            while (next != end && folded(*next) == 0) ++next;
            if (next == end || folded(*next) != static_cast<unsigned char>(letter)) return false;
            ++next;
        }
        return true;
    };
    return std::any_of(marks_.begin(), marks_.end(), fits);
}

bool SecretNames::may_match_before(const char* begin, const char* end) const {
    const char* name = end;
    while (name != begin && name[-1] != '"') --name;
    const bool is_cut = name - begin > 1 && name[-2] == '\\';
    return is_cut || has_mark({name, static_cast<std::size_t>(end - name)});
}

bool SecretNames::has_mark(std::string_view name) const {
    if (has_short_mark_) return true;
    const char* const end = name.data() + name.size();
    char second = '\0', third = '\0';
    for (const char* at = end; at != name.data();) {
        const char c = *--at;
        const bool may_begin =
            (next_pairs_[static_cast<unsigned char>(c)] & bit_of(second, third)) != 0;
        if (may_begin && begins_with_mark(at, end)) return true;
        if (folded(c) == 0) continue;
        third = second;
        second = c;
    }
    return false;
}

}  // namespace sluice
