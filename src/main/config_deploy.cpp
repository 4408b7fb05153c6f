#include "main/config_deploy.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using deploy::PlacementStrategy;

constexpr std::size_t secret_bytes = 1000;
constexpr std::size_t tokens_max = 1000;

// What is no secret is not repeated either: it was meant to be one.
void read_secret(Section& table, std::string_view key, std::string& out) {
    const toml::node* node = table.find(key);
    if (node == nullptr) return;
    const auto* text = node->as_string();
    if (text == nullptr || text->get().empty() || text->get().size() > secret_bytes) {
        return table.problem(key, *node,
                             fmt::format("must be a text of 1 to {} bytes", secret_bytes));
    }
    out = text->get();
}

void read_tokens(Section& table, std::string_view key, std::vector<std::string>& out) {
    const toml::node* node = table.find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    bool good = array != nullptr && array->size() <= tokens_max;
    for (std::size_t i = 0; good && i < array->size(); ++i) {
        const auto* text = array->get(i)->as_string();
        good = text != nullptr && !text->get().empty() && text->get().size() <= secret_bytes;
        if (good) out.push_back(text->get());
    }
    if (good) return;
    table.problem(key, *node,
                  fmt::format("must be an array of up to {} texts of 1 to {} bytes", tokens_max,
                              secret_bytes));
}

const Names<PlacementStrategy> strategies{{"hash", PlacementStrategy::hash},
                                          {"disk-aware", PlacementStrategy::disk_aware}};

// A setting that has two names must be given by one of them.
void refuse_both(Section& table, std::string_view key, Section& others, std::string_view other) {
    if (!table.has(key) || !others.has(other)) return;
    others.problem(other, *others.find(other),
                   fmt::format("is another name of {}, which is given, too", table.name(key)));
}

// deploy.proxy-auth, as the control plane's own configuration has it.
void read_proxy_auth(Section& table, std::string& secret) {
    Section proxy = table.section("proxy-auth");
    refuse_both(table, "shared_secret", proxy, "shared-secret");
    read_secret(proxy, "shared-secret", secret);
    bool enabled = true;
    proxy.flag("enabled", enabled);
    if (!enabled) {
        secret.clear();
    } else if (proxy.has("enabled") && secret.empty()) {
        proxy.problem("enabled", *proxy.find("enabled"), "needs a shared-secret");
    }
    proxy.close();
}

void read_job(Section& table, Duration& max_running) {
    Section job = table.section("job");
    refuse_both(table, "max_running", job, "max-running-seconds");
    std::int64_t seconds = 0;
    const auto most = std::chrono::duration_cast<std::chrono::seconds>(limits::timeout).count();
    job.integer("max-running-seconds", seconds, 0, most);
    if (seconds > 0) max_running = std::chrono::seconds(seconds);
    job.close();
}

void read_runtime_agent(Section& table, std::string& token) {
    Section agent = table.section("runtime-agent");
    refuse_both(table, "agent_token", agent, "token");
    read_secret(agent, "token", token);
    agent.close();
}

}  // namespace

void read_deploy(Section table, http::deploy::Settings& out) {
    read_secret(table, "shared_secret", out.shared_secret);
    read_proxy_auth(table, out.shared_secret);
    table.flag("open_runners", out.open_runners);
    read_tokens(table, "runner_tokens", out.runner_tokens);
    read_secret(table, "node_token", out.node_token);
    read_secret(table, "admin_token", out.admin_token);
    read_secret(table, "agent_token", out.agent_token);
    read_runtime_agent(table, out.agent_token);
    table.flag("requeue_lost", out.requeue_lost);
    table.duration("max_running", out.max_running, 0s, limits::timeout);
    read_job(table, out.max_running);
    table.duration("node_health", out.node_health, 1s, 24h);
    table.duration("runner_health", out.runner_health, 1s, 24h);
    table.choice("placement", out.placement, strategies);
    table.close();
}

}  // namespace sluice
