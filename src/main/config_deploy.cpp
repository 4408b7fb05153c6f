#include "main/config_deploy.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

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

}  // namespace

void read_deploy(Section table, http::deploy::Settings& out) {
    read_secret(table, "shared_secret", out.shared_secret);
    table.flag("open_runners", out.open_runners);
    read_tokens(table, "runner_tokens", out.runner_tokens);
    read_secret(table, "node_token", out.node_token);
    read_secret(table, "admin_token", out.admin_token);
    table.flag("requeue_lost", out.requeue_lost);
    table.duration("max_running", out.max_running, 0s, limits::timeout);
    table.duration("node_health", out.node_health, 1s, 24h);
    table.duration("runner_health", out.runner_health, 1s, 24h);
    table.close();
}

}  // namespace sluice
