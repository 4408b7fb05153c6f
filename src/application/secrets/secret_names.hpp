#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Tells which names of members, variables and the like are names of secrets, by a list of marks
// such as "password" and "api_key".
//
// A name is read as words: a word ends at whatever is no letter, at a digit, and where capitals
// begin, so that "registryPassword", "GIT_TOKEN", "api-key" and "APIKey" have two each. A name is
// that of a secret when it has a mark in it, its words written together, that
//   - ends where a word ends,
//   - begins where a word begins, or has at least five letters ("pgpassword"), and
//   - is not followed by a last word that makes the name one of something about the secret:
//     token_count, password_file, secretName (see about_words() for all of them).
// So "tokenizer", "secretary", "tokens" and "passwordless" are no names of secrets.
class SecretNames {
  public:
    // The marks that count unless an operator gives others.
    static const std::vector<std::string>& usual_marks();
    static const SecretNames& usual();

    SecretNames() = default;
    explicit SecretNames(const std::vector<std::string>& marks);

    bool empty() const { return marks_.empty(); }
    bool match(std::string_view name) const;

    // Whether the name that ends before `end` may match: the part from `begin` on that has no
    // quote, as it stands in JSON. Never false for one that does; quick for most others.
    bool may_match_before(const char* begin, const char* end) const;

    // Whether the mark has any letter or digit, without which it would mark nothing.
    static bool is_mark(std::string_view mark);

    // The last words of names that tell about a secret and do not hold it.
    static const std::vector<std::string_view>& about_words();

  private:
    bool begins_with_mark(const char* at, const char* end) const;
    bool has_mark(std::string_view name) const;

    std::vector<std::string> marks_{};  // in small letters; only letters and digits
    // For each byte that a mark can begin with, which pairs of letters can follow, by their hash.
    std::array<std::uint64_t, 256> next_pairs_{};
    bool has_short_mark_ = false;  // of less than three letters
};

}  // namespace sluice
