#include "nodes/nodes.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace sluice::nodes {

Nodes::Nodes(std::string store, int count) : store_(std::move(store)) {
    engines_.resize(static_cast<std::size_t>(count));
    ports_.resize(static_cast<std::size_t>(count));
    for (int node = 0; node < count; ++node) start(node);
}

void Nodes::start(int node) {
    const auto place = static_cast<std::size_t>(node);
    engines_[place] = std::make_unique<e2e::Engine>(store_);
    ports_[place] = engines_[place]->port();
}

void Nodes::kill(int node) {
    const auto place = static_cast<std::size_t>(node);
    engines_[place]->kill();
    ports_[place] = 0;
}

int Nodes::stop(int node) {
    const auto place = static_cast<std::size_t>(node);
    const int code = engines_[place]->stop();
    ports_[place] = 0;
    return code;
}

void Nodes::freeze(int node) {
    engines_[static_cast<std::size_t>(node)]->process().send_signal(SIGSTOP);
}

void Nodes::thaw(int node) {
    engines_[static_cast<std::size_t>(node)]->process().send_signal(SIGCONT);
}

void Nodes::look_after() {
    for (int node = 0; node < count(); ++node) {
        if (!is_up(node)) continue;
        const auto place = static_cast<std::size_t>(node);
        if (engines_[place]->is_running()) continue;
        ports_[place] = 0;
        ADD_FAILURE() << "node " << node << " died: " << engines_[place]->process().errors();
    }
}

}  // namespace sluice::nodes
