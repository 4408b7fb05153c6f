#include "interfaces/worker/executors/executor.hpp"

namespace sluice::worker {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

std::shared_ptr<client::JobWorker> make_worker(const std::string& type, const Executor& executor,
                                               const std::shared_ptr<Leash>& leash,
                                               FindNode find_node) {
    return std::visit(
        Overloaded{[&](const CommandExecutor& command) { return command_worker(command, leash); },
                   [&](const HttpExecutor& http) { return http_worker(http); },
                   [&](const AnsibleExecutor& ansible) {
                       return ansible_worker(ansible, leash, std::move(find_node));
                   },
                   [&](const MsuiteExecutor& msuite) { return msuite_worker(type, msuite, leash); },
                   [&](const AppExecutor& app) { return app_worker(type, app, leash); },
                   [&](const DemoExecutor&) { return demo_worker(type); }},
        executor);
}

bool needs_leash(const Executor& executor) {
    if (const auto* msuite = std::get_if<MsuiteExecutor>(&executor)) {
        return std::holds_alternative<CommandExecutor>(msuite->by);
    }
    if (const auto* app = std::get_if<AppExecutor>(&executor)) {
        return std::holds_alternative<CommandExecutor>(app->by);
    }
    return std::holds_alternative<CommandExecutor>(executor) ||
           std::holds_alternative<AnsibleExecutor>(executor);
}

}  // namespace sluice::worker
