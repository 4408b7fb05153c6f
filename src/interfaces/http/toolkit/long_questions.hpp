#pragma once

#include <deque>
#include <functional>

namespace sluice::http {

// The queue of questions that read much from the store, such as a page of large jobs. One of them
// is asked at a time, so that the other readers are there for questions that are answered quickly.
// Lives on the I/O thread.
class LongQuestions {
  public:
    struct Question {
        std::function<bool()> is_wanted;  // false: no request waits for the answer any more
        std::function<void()> ask;        // end() must be called once when the answer is there
    };

    // Asks when it is its turn, if it is still wanted then.
    void enter(Question question);

    // The question that was asked last has its answer.
    void end();

  private:
    void ask_next();

    std::deque<Question> waiting_;
    bool is_asked_ = false;   // one of them
    bool is_asking_ = false;  // ask_next() runs: an answer may be there at once
};

}  // namespace sluice::http
