#pragma once

#include <string>
#include <vector>

#include "config/show.hpp"

namespace sluice {

// Values as they stand in a file.
std::string quoted(const std::string& text);
std::string quoted(Duration duration);
std::string list_of(const std::vector<std::string>& texts);
std::string flag_text(bool truth);

// The key of a setting, and another key that the file may have for it.
struct SettingKey {
    std::string key{};
    std::string other{};
};

// Settings as they are shown, and separately the secrets that are not shown.
class Listing {
  public:
    explicit Listing(const Origins& origins) : origins_(origins) {}

    void add(const SettingKey& setting, std::string value);

    // Shown as "(hidden)" unless they are empty; each value is a secret.
    void add_secret(const SettingKey& setting, const std::string& value);
    void add_secrets(const SettingKey& setting, const std::vector<std::string>& values);

    // Shown without its password and its query, which may hold secrets.
    void add_url(const SettingKey& setting, const std::string& url);

    // Headers or variables of an executor, hidden, too. Most values are ordinary text, so a value
    // counts as a secret only when its name is that of a secret.
    void add_named(const std::string& table, const worker::Variables& values);
    void add_environment(const std::string& path, const worker::EnvironmentChoice& environment);

    std::vector<Setting> take() { return std::move(settings_); }
    std::vector<std::string> take_secrets() { return std::move(secrets_); }

  private:
    void add_secret_by_name(const std::string& name, const std::string& value);

    const Origins& origins_;
    std::vector<Setting> settings_;
    std::vector<std::string> secrets_;
};

}  // namespace sluice
