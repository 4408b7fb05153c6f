#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "application/secrets/decoded_text.hpp"

namespace sluice {

// Removes secrets from texts that others will read: secrets of six bytes and more, as they are, as
// they look in JSON and in a URL, and inside text that was encoded as base64. The search for long
// or many secrets has its bounds (SecretBounds).
class Redactor {
  public:
    // Looks for nothing.
    Redactor() = default;
    explicit Redactor(const std::vector<std::string>& secrets);

    // Looks for values of settings: each line as a whole, if it has at least eight bytes, since
    // these are looked for in the messages of all workers. Without bounds, since an operator gave
    // them.
    static Redactor of_settings(const std::vector<std::string>& values);

    bool is_idle() const { return forms_.empty(); }
    // How many texts are looked for, in all their forms.
    std::size_t form_count() const { return forms_.size(); }

    // Replaces every secret by "***".
    void clean(std::string& text) const;
    // The same in the strings and numbers of a JSON text, which stays valid; the rest keeps its
    // bytes. Names that would be the same in one object get a number.
    void clean_json(std::string& json) const;

    // Whether there may be secrets in the text, JSON or not.
    bool may_be_in(std::string_view text) const;

  private:
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    using Ranges = std::vector<Range>;

    void look_for(const std::vector<std::string>& texts);
    std::size_t beginning_of(const char* text) const;
    std::size_t length_at(std::string_view text) const;
    Ranges found_in(std::string_view text) const;
    void add_found_in(const DecodedText& decoded, Ranges& ranges) const;
    Ranges secrets_in(std::string_view text) const;

    std::vector<std::string> forms_{};  // in order
    // For each form the longest other one that it begins with, or none.
    std::vector<std::size_t> beginnings_{};
    // The hashes of the first bytes of the forms: most positions of a text match none of them.
    std::vector<bool> first_bytes_{};
    int first_bytes_shift_ = 0;
    bool has_space_ = false;
};

}  // namespace sluice
