#include "interfaces/worker/executor.hpp"

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
                                               const std::shared_ptr<Leash>& leash) {
    return std::visit(
        Overloaded{[&](const CommandExecutor& command) { return command_worker(command, leash); },
                   [&](const HttpExecutor& http) { return http_worker(http); },
                   [&](const AnsibleExecutor& ansible) { return ansible_worker(ansible, leash); },
                   [&](const MsuiteExecutor& msuite) { return msuite_worker(type, msuite, leash); },
                   [&](const DemoExecutor&) { return demo_worker(type); }},
        executor);
}

bool needs_leash(const Executor& executor) {
    if (const auto* msuite = std::get_if<MsuiteExecutor>(&executor)) {
        return std::holds_alternative<CommandExecutor>(msuite->by);
    }
    return std::holds_alternative<CommandExecutor>(executor) ||
           std::holds_alternative<AnsibleExecutor>(executor);
}

}  // namespace sluice::worker
