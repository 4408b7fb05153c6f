#include "main/config_settings.hpp"

#include <algorithm>

#include "application/decoded_text.hpp"
#include "application/secret_names.hpp"
#include "domain/json_text.hpp"
#include "interfaces/worker/url_text.hpp"
#include "main/config_values.hpp"

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
    append_json_string(out, text);  // what TOML reads as the same text
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

std::string flag(bool truth) {
    return truth ? "true" : "false";
}

void Listing::add(const std::string& key, std::string value) {
    settings_.push_back({key, std::move(value), origin_of(key)});
}

void Listing::add(const std::string& key, const std::string& other, std::string value) {
    const std::string& written = origins_.contains(other) ? other : key;
    settings_.push_back({key, std::move(value), origin_of(written)});
}

void Listing::add_secret(const std::string& key, const std::string& value) {
    add_secret(key, key, value);
}

void Listing::add_secret(const std::string& key, const std::string& other,
                         const std::string& value) {
    add(key, other, value.empty() ? quoted(value) : hidden);
    secrets_.push_back(value);
}

void Listing::add_secrets(const std::string& key, const std::vector<std::string>& values) {
    add(key, values.empty() ? "[]" : hidden);
    secrets_.insert(secrets_.end(), values.begin(), values.end());
}

void Listing::add_url(const std::string& key, const std::string& url, const std::string& shown) {
    add(key, quoted(shown));
    if (url.find("://") == url.npos) return;
    const std::string_view user = worker::user_of(url);
    if (const std::size_t colon = user.find(':'); colon != user.npos) {
        secrets_.push_back(without_escapes(user.substr(colon + 1)));
    }
    for_each_parameter(url, [&](const std::string& name, const std::string& value) {
        add_secret_by_name(name, value);
    });
}

void Listing::add_named(const std::string& path, const std::string& table, const std::string& name,
                        const std::string& value) {
    add(path + table + "." + name, path + table, hidden);
    add_secret_by_name(name, value);
}

void Listing::add_environment(const std::string& path,
                              const worker::EnvironmentChoice& environment) {
    for (const auto& [name, value] : environment.set) add_named(path, "environment", name, value);
    add(path + "pass_environment", list_of(environment.names_to_pass));
    for (const auto& [name, value] : environment.passed) add_secret_by_name(name, value);
}

// Of "Bearer abc" the second word counts by itself, too.
void Listing::add_secret_by_name(const std::string& name, const std::string& value) {
    if (!SecretNames::usual().match(name)) return;
    secrets_.push_back(value);
    const std::size_t space = value.find(' ');
    if (space != value.npos) secrets_.push_back(value.substr(space + 1));
}

std::string Listing::origin_of(const std::string& key) const {
    const auto found = origins_.find(key);
    return found == origins_.end() ? "default" : found->second;
}

}  // namespace sluice
