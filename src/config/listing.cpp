#include "config/listing.hpp"

#include <algorithm>

#include "application/secrets/decoded_text.hpp"
#include "application/secrets/secret_names.hpp"
#include "config/store_url.hpp"
#include "domain/values/duration_text.hpp"
#include "domain/values/json_text.hpp"
#include "interfaces/worker/executors/url_text.hpp"

namespace sluice {
namespace {

constexpr const char* hidden = "(hidden)";

std::string without_escapes(std::string_view text) {
    return DecodedText::from_url(text, DecodedText::Plus::is_plus).text();
}

// Calls `take` with the name and the value of each parameter of the URL's query.
template <class Take>
void for_each_parameter(std::string_view url, Take take) {
    const std::size_t question = url.find('?');
    if (question == url.npos) return;
    std::string_view query = url.substr(question + 1);
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        const std::size_t equals = std::min(pair.size(), pair.find('='));
        take(without_escapes(pair.substr(0, equals)),
             without_escapes(pair.substr(std::min(pair.size(), equals + 1))));
    }
}

}  // namespace

std::string quoted(const std::string& text) {
    std::string out;
    append_json_string(out, text);  // TOML reads it as the same text
    return out;
}

std::string quoted(Duration duration) {
    return quoted(duration_text(duration));
}

std::string list_of(const std::vector<std::string>& texts) {
    std::string out = "[";
    for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + quoted(text);
    return out + "]";
}

std::string flag_text(bool truth) {
    return truth ? "true" : "false";
}

void Listing::add(const SettingKey& setting, std::string value) {
    auto written = origins_.find(setting.other);
    if (written == origins_.end()) written = origins_.find(setting.key);
    const bool is_default = written == origins_.end();
    settings_.push_back({setting.key, std::move(value), is_default ? "default" : written->second});
}

void Listing::add_secret(const SettingKey& setting, const std::string& value) {
    add(setting, value.empty() ? quoted(value) : hidden);
    secrets_.push_back(value);
}

void Listing::add_secrets(const SettingKey& setting, const std::vector<std::string>& values) {
    add(setting, values.empty() ? "[]" : hidden);
    secrets_.insert(secrets_.end(), values.begin(), values.end());
}

void Listing::add_url(const SettingKey& setting, const std::string& url) {
    add(setting, quoted(shown_store(url)));
    if (url.find("://") == url.npos) return;
    const std::string_view user = worker::user_of(url);
    if (const std::size_t colon = user.find(':'); colon != user.npos) {
        secrets_.push_back(without_escapes(user.substr(colon + 1)));
    }
    for_each_parameter(url, [&](const std::string& name, const std::string& value) {
        add_secret_by_name(name, value);
    });
}

void Listing::add_named(const std::string& table, const worker::Variables& values) {
    for (const auto& [name, value] : values) {
        add({table + "." + name, table}, hidden);
        add_secret_by_name(name, value);
    }
}

void Listing::add_environment(const std::string& path,
                              const worker::EnvironmentChoice& environment) {
    add_named(path + "environment", environment.set);
    add({path + "pass_environment"}, list_of(environment.names_to_pass));
    for (const auto& [name, value] : environment.passed) add_secret_by_name(name, value);
}

// Of "Bearer abc" the second word is a secret by itself, too.
void Listing::add_secret_by_name(const std::string& name, const std::string& value) {
    if (!SecretNames::usual().match(name)) return;
    secrets_.push_back(value);
    const std::size_t space = value.find(' ');
    if (space != value.npos) secrets_.push_back(value.substr(space + 1));
}

}  // namespace sluice
