// Settings of [deploy], also by the names of the control plane's own configuration.
#include "config/settings.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using http::deploy::Settings;
using sluice::deploy::PlacementStrategy;

constexpr std::size_t tokens_max = 1000;

const Names<PlacementStrategy> strategies{{"hash", PlacementStrategy::hash},
                                          {"disk-aware", PlacementStrategy::disk_aware}};

void read_tokens(Section& section, std::string_view key, Settings& out) {
    const TomlValue* array = section.find(key);
    if (array == nullptr) return;
    bool good = array->kind == TomlValue::Kind::array && array->children.size() <= tokens_max;
    std::vector<std::string> tokens;
    for (std::size_t i = 0; good && i < array->children.size(); ++i) {
        const TomlValue& token = array->children[i];
        good = token.kind == TomlValue::Kind::text && !token.text.empty() &&
               token.text.size() <= secret_bytes;
        tokens.push_back(token.text);
    }
    if (good) {
        out.runner_tokens = std::move(tokens);
    } else {
        section.problem(key, fmt::format("must be an array of up to {} texts of 1 to {} bytes",
                                         tokens_max, secret_bytes));
    }
}

void read_seconds(Section& section, std::string_view key, Settings& out) {
    const auto most = std::chrono::duration_cast<std::chrono::seconds>(limits::timeout).count();
    const auto seconds = section.integer(key, 0, most);
    if (seconds.value_or(0) > 0) out.max_running = std::chrono::seconds(*seconds);
}

// The same setting by another name, which is not shown for itself.
Row<Settings> another_name(std::string key, Form<Settings> form, std::string_view name) {
    form.show = nullptr;
    return {std::move(key), std::move(form), fmt::format("Another name of deploy.{}.", name)};
}

}  // namespace

Rows<Settings> deploy_rows() {
    using S = Settings;
    Form<S> tokens = texts(&S::runner_tokens);
    tokens.secrecy = Secrecy::whole;
    tokens.read = read_tokens;
    tokens.show = [](Listing& out, const SettingKey& setting, const S& deploy) {
        out.add_secrets(setting, deploy.runner_tokens);
    };
    const std::string hush = "\"…\"";
    return {
        {"shared_secret", secret(&S::shared_secret),
         "Asked for as X-DEPLOY-SECRET by create, query, list and control. proxy-auth.enabled = "
         "false turns it off.",
         Outside(), hush, "", "proxy-auth.shared-secret"},
        another_name("proxy-auth.shared-secret", secret(&S::shared_secret), "shared_secret"),
        {"open_runners", flag(&S::open_runners),
         "true: runners are not asked for a token, whatever runner_tokens has."},
        {"runner_tokens", tokens,
         "One of them is asked of runners, as \"Authorization: Bearer …\".", Outside(),
         "[" + hush + "]"},
        {"node_token", secret(&S::node_token), "Asked of runtime nodes, as X-RT-Node-Token.",
         Outside(), hush},
        {"admin_token", secret(&S::admin_token), "Asked for as X-Admin-Token by /admin/….",
         Outside(), hush},
        {"agent_token", secret(&S::agent_token),
         "Shown to the agents of runtime nodes as X-Runtime-Token.", Outside(), hush, "",
         "runtime-agent.token"},
        another_name("runtime-agent.token", secret(&S::agent_token), "agent_token"),
        {"requeue_lost", flag(&S::requeue_lost),
         "true: a job whose runner went silent is PENDING again; false: it has FAILED."},
        {"max_running", duration(&S::max_running, 0s, limits::timeout),
         "A job that runs longer has FAILED. \"0s\": no limit but the timeout of its type.",
         Outside(), "", "", "job.max-running-seconds"},
        another_name("job.max-running-seconds",
                     {.read = read_seconds, .range = "seconds", .kind = TomlValue::Kind::integer},
                     "max_running"),
        {"node_health", duration(&S::node_health, 1s, 24h),
         "For how long a runtime node is healthy after its heartbeat."},
        {"runner_health", duration(&S::runner_health, 1s, 24h),
         "For how long a runner is online after it was last seen."},
        {"placement", choice(&S::placement, strategies),
         "Which healthy node an app is put on: by its hash, or by free disk."},
    };
}

void check_deploy(Sections& sections, Settings& out) {
    for (const Row<Settings>& row : deploy_rows()) {
        const std::size_t dot = row.other_key.find('.');
        if (dot == row.other_key.npos) continue;
        Section& others = sections.at("deploy." + row.other_key.substr(0, dot));
        const std::string other = row.other_key.substr(dot + 1);
        if (!sections.at("deploy").has(row.key) || !others.has(other)) continue;
        others.problem(other,
                       fmt::format("is another name of deploy.{}, which is given, too", row.key));
    }
    Section& proxy = sections.at("deploy.proxy-auth");
    if (!proxy.flag("enabled").value_or(true)) {
        out.shared_secret.clear();
    } else if (proxy.has("enabled") && out.shared_secret.empty()) {
        proxy.problem("enabled", "needs a shared-secret");
    }
}

}  // namespace sluice
