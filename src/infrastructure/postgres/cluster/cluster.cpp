#include "infrastructure/postgres/cluster/cluster.hpp"

#include <limits>
#include <random>

namespace sluice::postgres {
namespace {

std::int64_t random_owner() {
    std::random_device source;
    std::uniform_int_distribution<std::int64_t> any(1, std::numeric_limits<std::int64_t>::max());
    return any(source);
}

}  // namespace

Cluster::Cluster(Database where, std::string name)
    : database(std::move(where)), node_name(std::move(name)), owner(random_owner()) {}

}  // namespace sluice::postgres
