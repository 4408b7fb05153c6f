#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Bounds on what is looked for, so that no payload makes a search slow.
struct SecretBounds {
    // Shorter ones would be found everywhere.
    static constexpr std::size_t bytes_min = 6;
    // Different secrets, the texts (lines, words and the like) they come to, and the bytes of
    // those.
    static constexpr std::size_t secrets_max = 64;
    static constexpr std::size_t texts_max = 256;
    static constexpr std::size_t bytes_max = 8 * 1024;
    // Of values of settings, which are looked for in what workers say about any job.
    static constexpr std::size_t setting_bytes_min = 8;
};

// The texts to look for when these secrets must not be told, each once: their lines, the words of a
// line with spaces, and the password in a URL.
std::vector<std::string> texts_of_secrets(const std::vector<std::string>& secrets);

// The texts to look for when values of settings must not be told: their lines.
std::vector<std::string> lines_of_settings(const std::vector<std::string>& values);

// The text itself, and how it looks inside something that was encoded as base64.
std::vector<std::string> forms_of_text(const std::string& text);

}  // namespace sluice
