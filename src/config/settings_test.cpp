// Promises that hold for each row of the table of settings, those that are added later included.
#include "config/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace sluice {
namespace {

Result<Config> load(std::string_view toml, std::map<std::string, std::string> environment = {}) {
    return load_config(toml, "sluice.toml", [=](const std::string& name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
    });
}

std::string problems(std::string_view toml, std::map<std::string, std::string> environment = {}) {
    const auto config = load(toml, std::move(environment));
    return config ? "none" : config.error().message;
}

// The setting of a row; nothing when it is not shown.
template <class Owner>
std::optional<Setting> shown(const Row<Owner>& row, const Owner& owner, const Origins& origins) {
    Listing out(origins);
    if (row.form.show) row.form.show(out, {row.key, row.other_key}, owner);
    const std::vector<Setting> settings = out.take();
    return settings.empty() ? std::nullopt : std::optional(settings.front());
}

std::string value_of(const Row<Config>& row, const Config& config) {
    const auto setting = shown(row, config, config.origins);
    return setting ? setting->value : "";
}

std::string origin_of(std::string_view key, const Config& config) {
    return shown(setting_row(key), config, config.origins)->origin;
}

// A range such as "1 to 8" or "100ms to 1h".
std::optional<std::pair<std::string, std::string>> bounds_of(const Row<Config>& row) {
    const bool is_number = row.form.kind == TomlValue::Kind::integer;
    const std::size_t to = row.form.range.find(" to ");
    if (to == std::string::npos) return std::nullopt;
    const std::string low = row.form.range.substr(0, to), high = row.form.range.substr(to + 4);
    if (is_number) return std::pair(low, high);
    if (!parse_duration(low) || !parse_duration(high)) return std::nullopt;
    return std::pair('"' + low + '"', '"' + high + '"');
}

const Config& with_every_part() {
    static const Config config = [] {
        Config all;
        all.jwt.emplace();
        return all;
    }();
    return config;
}

TEST(Settings, HaveKeysVariablesAndFlagsOfTheirOwn) {
    std::set<std::string> seen;
    for (const Row<Config>& row : setting_rows()) {
        EXPECT_TRUE(seen.insert(row.key).second) << row.key;
        EXPECT_TRUE(row.outside.variable.empty() || seen.insert(row.outside.variable).second)
            << row.key;
        EXPECT_TRUE(row.outside.flag.empty() || seen.insert(row.outside.flag).second) << row.key;
        EXPECT_TRUE(row.in_file || !row.outside.variable.empty())
            << row.key << " can be given nowhere";
    }
}

TEST(Settings, SayWhatTheyAreAndWhatIsAllowed) {
    for (const Row<Config>& row : setting_rows()) {
        EXPECT_TRUE(row.help.ends_with('.')) << row.key << ": " << row.help;
        EXPECT_FALSE(row.form.range.empty()) << row.key;
    }
    for (const Row<JobType>& row : job_type_rows()) {
        EXPECT_TRUE(row.help.ends_with('.')) << row.key << ": " << row.help;
        EXPECT_FALSE(row.form.range.empty()) << row.key;
    }
}

TEST(Settings, ReadWhatTheyShow) {
    for (const Row<Config>& row : setting_rows()) {
        const std::string value = value_of(row, Config{});
        if (value.empty() || value == "\"\"" || !row.in_file) continue;

        const auto config = load(row.key + " = " + value);

        ASSERT_TRUE(config) << config.error().message;
        EXPECT_EQ(value_of(row, *config), value) << row.key;
        EXPECT_EQ(origin_of(row.key, *config), "sluice.toml:1") << row.key;
    }
}

TEST(Settings, TakeTheEndsOfTheirRangesAndShowThem) {
    std::size_t tried = 0;
    for (const Row<Config>& row : setting_rows()) {
        const auto bounds = bounds_of(row);
        if (!bounds || row.key.starts_with("auth.jwt.") || !row.form.show) continue;
        for (const std::string& value : {bounds->first, bounds->second}) {
            if (row.key == "lease.max" && value == bounds->first) continue;  // below the default
            if (row.key == "lease.default" && value == bounds->second) continue;
            const auto config = load(row.key + " = " + value);
            ASSERT_TRUE(config) << config.error().message;
            EXPECT_EQ(value_of(row, *config), value) << row.key;
            ++tried;
        }
    }
    EXPECT_GT(tried, 40u);
}

TEST(Settings, RefuseTheWrongKindOfValueByNameAndLine) {
    for (const Row<Config>& row : setting_rows()) {
        if (!row.in_file || row.key.starts_with("auth.jwt.")) continue;
        const std::string said = problems("\n" + row.key + " = 1979-05-27");
        EXPECT_TRUE(said.starts_with("sluice.toml:2: " + row.key + ": must be ")) << said;
    }
}

TEST(Settings, RefuseWhatIsOutOfRange) {
    for (const Row<Config>& row : setting_rows()) {
        if (row.form.kind != TomlValue::Kind::integer || !bounds_of(row)) continue;
        const auto [low, high] = *bounds_of(row);
        for (const std::int64_t value : {std::stoll(low) - 1, std::stoll(high) + 1}) {
            EXPECT_EQ(problems(fmt::format("{} = {}", row.key, value)),
                      fmt::format("sluice.toml:1: {}: must be an integer between {} and {}, not {}",
                                  row.key, low, high, value));
        }
    }
}

TEST(Settings, AreToldFromKeysThatDoNotExist) {
    for (const Row<Config>& row : setting_rows()) {
        const bool is_needed = !row.needed.empty();  // which is said first
        if (!row.in_file || is_needed || row.key.starts_with("auth.jwt.")) continue;
        const std::string said = problems(row.key + "_x = 1");
        EXPECT_TRUE(said.starts_with("sluice.toml:1: unknown key \"" + row.key + "_x\"; ")) << said;
    }
}

TEST(Settings, ComeFromTheirVariableBeforeTheFileAndFromTheirFlagBeforeBoth) {
    const std::map<std::string, std::pair<std::string, std::string>> texts{
        {"listen", {"a:1", "b:2"}},
        {"store", {"memory:", "sqlite:x"}},
        {"store_direct", {"postgres://a/b", "postgres://c/d"}},
        {"store_schema", {"a", "b"}},
        {"retention", {"30d", "60d"}},
        {"no_auth", {"true", "false"}},
        {"plaintext", {"true", "false"}},
        {"node", {"1", "2"}},
        {"log.level", {"warn", "debug"}},
        {"log.format", {"json", "text"}},
        {"runner.concurrency", {"3", "4"}},
    };
    std::size_t tried = 0;
    for (const Row<Config>& row : setting_rows()) {
        if (row.outside.variable.empty() || !texts.contains(row.key)) continue;
        const auto& [in_file, outside] = texts.at(row.key);
        const bool is_text = row.form.kind == TomlValue::Kind::text;
        const std::string toml = row.key + " = " + (is_text ? quoted(in_file) : in_file);
        const std::string expected = is_text ? quoted(outside) : outside;

        const auto by_variable = load(toml, {{row.outside.variable, outside}});
        Config by_flag = *load(toml, {{row.outside.variable, in_file}});
        ASSERT_TRUE(set_option(by_flag, row.key, outside, "--flag"));

        ASSERT_TRUE(by_variable) << by_variable.error().message;
        EXPECT_EQ(value_of(row, *by_variable), expected);
        EXPECT_EQ(origin_of(row.key, *by_variable), row.outside.variable);
        EXPECT_EQ(value_of(row, by_flag), expected);
        EXPECT_EQ(origin_of(row.key, by_flag), "--flag");
        ++tried;
    }
    EXPECT_EQ(tried, texts.size());
}

TEST(Settings, StayAsTheyAreWhenATextIsRefused) {
    for (const Row<Config>& row : setting_rows()) {
        if (row.outside.variable.empty()) continue;
        Config config;
        const auto done = set_option(config, row.key, "", "--flag");
        if (done) continue;
        EXPECT_TRUE(done.error().message.starts_with("--flag: must be ")) << done.error().message;
        EXPECT_EQ(value_of(row, config), value_of(row, Config{})) << row.key;
        EXPECT_TRUE(config.origins.empty()) << row.key;
    }
}

TEST(Settings, HideTheirSecrets) {
    for (const Row<Config>& row : setting_rows()) {
        if (row.form.secrecy != Secrecy::whole || !row.form.show || !row.in_file) continue;
        const bool is_list = row.form.kind == TomlValue::Kind::array;

        const auto config = load(row.key + (is_list ? " = [\"hush\"]" : " = \"hush\""));

        ASSERT_TRUE(config) << config.error().message;
        EXPECT_EQ(value_of(row, *config), "(hidden)") << row.key;
        const auto secrets = secrets_of(*config);
        EXPECT_NE(std::find(secrets.begin(), secrets.end(), "hush"), secrets.end()) << row.key;
        EXPECT_EQ(problems(row.key + " = \"" + std::string(1001, 'h') + "\"").find("hh"),
                  std::string::npos);
    }
}

TEST(Settings, OfAPartThatIsNotConfiguredAreNotShown) {
    for (const Row<Config>& row : setting_rows()) {
        if (!row.key.starts_with("auth.jwt.")) continue;
        EXPECT_EQ(value_of(row, Config{}), "") << row.key;
        EXPECT_NE(value_of(row, with_every_part()), "") << row.key;
    }
}

TEST(JobTypeSettings, ReadWhatTheyShow) {
    for (const Row<JobType>& row : job_type_rows()) {
        const auto setting = shown(row, JobType{}, {});
        if (!setting) continue;

        const auto config = load("[job_types.x]\n" + row.key + " = " + setting->value);

        ASSERT_TRUE(config) << config.error().message;
        const JobType& read = config->job_types.all().at("x");
        EXPECT_EQ(shown(row, read, {})->value, setting->value) << row.key;
    }
}

}  // namespace
}  // namespace sluice
