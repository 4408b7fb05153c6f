#include "interfaces/http/server/answer_memory.hpp"

namespace sluice::http {

void AnswerMemory::count(std::size_t& held, std::size_t wanted) {
    const std::size_t counted = wanted <= own_share ? 0 : wanted;
    const std::size_t before = std::exchange(held, counted);
    bytes_ += counted;
    bytes_ -= before;
    if (counted < before && !waiting_.empty()) on_freed_();
}

void AnswerMemory::leave(const Connection& connection) {
    std::erase(waiting_, &connection);
    if (!waiting_.empty()) on_freed_();  // the next one may need less
}

}  // namespace sluice::http
