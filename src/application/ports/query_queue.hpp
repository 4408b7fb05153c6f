#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "application/ports/store_refusal.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Answers questions that change nothing, in parallel to the commits. Called on the I/O thread,
// where the answers arrive, too.
class QueryQueue {
  public:
    virtual ~QueryQueue() = default;

    // Calls `question` with a reader on another thread, and then `done` with its answer. When the
    // store gives no answer, or too many questions wait, `done` gets a refusal as unavailable.
    template <class Answer>
    void ask(std::function<Result<Answer>(JobReader&)> question,
             std::function<void(Result<Answer>)> done) {
        const auto work = [this, question = std::move(question),
                           done](JobReader& reader) -> Delivery {
            // shared: std::function wants copies
            const auto answer = std::make_shared<Result<Answer>>(answered(question, reader));
            return [answer, done] { done(std::move(*answer)); };
        };
        if (!run(work)) done(too_much_waits());
    }

  protected:
    using Delivery = std::function<void()>;  // runs on the I/O thread
    virtual bool run(std::function<Delivery(JobReader&)> work) = 0;

    // Called on the thread of the reader after each question: with why the store gave no answer, or
    // an empty text.
    virtual void note_health(const std::string& /*failure*/) {}

  private:
    template <class Question>
    auto answered(const Question& question, JobReader& reader) -> decltype(question(reader)) {
        try {
            auto answer = question(reader);
            note_health("");
            return answer;
        } catch (const StoreUnavailable& unavailable) {
            note_health(unavailable.what());
            return refusal_for(unavailable);
        }
    }
};

}  // namespace sluice
