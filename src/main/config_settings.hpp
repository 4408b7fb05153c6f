#pragma once

#include <string>
#include <vector>

#include "main/config_show.hpp"

namespace sluice {

// Values as they stand in a file.
std::string quoted(const std::string& text);
std::string quoted(Duration duration);
std::string list_of(const std::vector<std::string>& texts);
std::string flag(bool truth);

// Settings as they are shown, and apart from them the secrets that are not.
class Listing {
  public:
    explicit Listing(const Origins& origins) : origins_(origins) {}

    void add(const std::string& key, std::string value);

    // `other` is another name under which the file may have it.
    void add(const std::string& key, const std::string& other, std::string value);

    // Shown as "(hidden)" unless they are empty; each value is a secret.
    void add_secret(const std::string& key, const std::string& value);
    void add_secret(const std::string& key, const std::string& other, const std::string& value);
    void add_secrets(const std::string& key, const std::vector<std::string>& values);

    // Shown without its password and its query, which may hold secrets.
    void add_url(const std::string& key, const std::string& url, const std::string& shown);

    // A header or a variable of an executor, hidden, too. Most are ordinary words, so that it
    // counts as a secret only when its name is one of a secret.
    void add_named(const std::string& path, const std::string& table, const std::string& name,
                   const std::string& value);
    void add_environment(const std::string& path, const worker::EnvironmentChoice& environment);

    std::vector<Setting> take() { return std::move(settings_); }
    std::vector<std::string> take_secrets() { return std::move(secrets_); }

  private:
    std::string origin_of(const std::string& key) const;
    void add_secret_by_name(const std::string& name, const std::string& value);

    const Origins& origins_;
    std::vector<Setting> settings_;
    std::vector<std::string> secrets_;
};

}  // namespace sluice
