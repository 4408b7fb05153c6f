#include "interfaces/http/toolkit/long_questions.hpp"

#include <utility>

namespace sluice::http {

void LongQuestions::enter(Question question) {
    waiting_.push_back(std::move(question));
    ask_next();
}

void LongQuestions::end() {
    is_asked_ = false;
    ask_next();
}

void LongQuestions::ask_next() {
    if (std::exchange(is_asking_, true)) return;
    while (!is_asked_ && !waiting_.empty()) {
        const Question next = std::move(waiting_.front());
        waiting_.pop_front();
        if (!next.is_wanted()) continue;
        is_asked_ = true;
        next.ask();
    }
    is_asking_ = false;
}

}  // namespace sluice::http
