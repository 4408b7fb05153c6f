#include "interfaces/http/access/limits_by_caller.hpp"

namespace sluice::http {

Holdings::Share Holdings::take(const std::string& name, std::size_t limit) {
    std::size_t& count = (*taken_)[name];
    if (limit > 0 && count >= limit) return nullptr;
    ++count;
    return Share(this, [name, taken = taken_](void*) {
        const auto found = taken->find(name);
        if (--found->second == 0) taken->erase(found);
    });
}

}  // namespace sluice::http
