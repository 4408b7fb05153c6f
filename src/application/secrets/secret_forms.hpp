#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

// Bounds on the search, so that no payload makes it slow.
struct SecretBounds {
    // Shorter secrets would be found everywhere.
    static constexpr std::size_t bytes_min = 6;
    // The number of different secrets, of their texts (lines, words and the like), and of the bytes
    // of these.
    static constexpr std::size_t secrets_max = 64;
    static constexpr std::size_t texts_max = 256;
    static constexpr std::size_t bytes_max = 8 * 1024;
    // For values of settings, which are looked for in workers' messages about any job.
    static constexpr std::size_t setting_bytes_min = 8;
};

// The texts to look for when these secrets must not be shown, each once: their lines, the words of
// a line with spaces, and the password in a URL.
std::vector<std::string> texts_of_secrets(const std::vector<std::string>& secrets);

// The texts to look for when values of settings must not be shown: their lines.
std::vector<std::string> lines_of_settings(const std::vector<std::string>& values);

// The text itself, and how it looks inside text that was encoded as base64.
std::vector<std::string> forms_of_text(const std::string& text);

}  // namespace sluice
