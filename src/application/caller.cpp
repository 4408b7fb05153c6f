#include "application/caller.hpp"

namespace sluice {

std::string actor_name(const Caller& caller) {
    return caller.name.empty() ? "operator" : "user:" + caller.name;
}

}  // namespace sluice
