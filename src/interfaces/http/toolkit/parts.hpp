#pragma once

#include <algorithm>
#include <typeindex>
#include <utility>
#include <vector>

#include "domain/values/check.hpp"

namespace sluice::http {

// The state that contracts keep while the engine runs, at most one part of each type. The holder
// knows none of the types: a contract finds its own part by the type. Parts outlive the holder.
class Parts {
  public:
    template <class Part>
    void put(Part& part) {
        check(find(typeid(Part)) == nullptr, "there is one part of each type");
        parts_.emplace_back(typeid(Part), &part);
    }

    template <class Part>
    Part& get() const {
        void* const found = find(typeid(Part));
        check(found != nullptr, "the part of a contract was put in before its first request");
        return *static_cast<Part*>(found);
    }

  private:
    void* find(std::type_index type) const {
        const auto is_it = [&](const auto& part) { return part.first == type; };
        const auto found = std::find_if(parts_.begin(), parts_.end(), is_it);
        return found == parts_.end() ? nullptr : found->second;
    }

    std::vector<std::pair<std::type_index, void*>> parts_;
};

}  // namespace sluice::http
