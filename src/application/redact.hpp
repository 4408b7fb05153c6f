#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "application/commands.hpp"
#include "application/decoded_text.hpp"
#include "application/secret_marks.hpp"

namespace sluice {

// Takes secrets out of what others will read: texts of six bytes and more, as they are, as they
// look in JSON and in a URL, and inside something that was encoded as base64. What of long or many
// secrets is looked for has its bounds (SecretBounds).
class Redactor {
  public:
    explicit Redactor(const std::vector<std::string>& secrets);

    bool is_idle() const { return forms_.empty(); }
    // How many texts are looked for, in all their forms.
    std::size_t form_count() const { return forms_.size(); }

    // "***" in place of every secret.
    void clean(std::string& text) const;
    // The same in the strings and numbers of a JSON text, which stays valid; the rest keeps its
    // bytes. Names that would be the same in one object get a number.
    void clean_json(std::string& json) const;

  private:
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    using Ranges = std::vector<Range>;

    static std::size_t beginning_of(const char* text);
    std::size_t length_at(std::string_view text) const;
    Ranges found_in(std::string_view text) const;
    void add_found_in(const DecodedText& decoded, Ranges& ranges) const;
    Ranges secrets_in(std::string_view text) const;

    std::vector<std::string> forms_{};  // in order
    // For each form the longest other one that it begins with, or none.
    std::vector<std::size_t> beginnings_{};
    // The hashes of the first bytes of the forms: most places of a text have none of them.
    std::bitset<4096> first_bytes_{};
    bool has_space_ = false;
};

// What a worker says about its job, without the secrets of the job's payload; nothing when the
// payload has none, and it can be taken as it is.
std::optional<Report> without_secrets(const Report& report, const SecretMarks& marks,
                                      const JobSpec& spec);
std::optional<HandBack> without_secrets(const HandBack& hand_back, const SecretMarks& marks,
                                        const JobSpec& spec);
std::optional<Heartbeat> without_secrets(const Heartbeat& heartbeat, const SecretMarks& marks,
                                         const JobSpec& spec);
std::optional<AppendLogs> without_secrets(const AppendLogs& batch, const SecretMarks& marks,
                                          const JobSpec& spec);

}  // namespace sluice
