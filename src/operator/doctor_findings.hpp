#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sluice {

enum class Verdict { good, doubtful, bad };

struct Finding {
    Verdict verdict = Verdict::good;
    std::string subject{};
    std::string detail{};
    std::string advice{};  // for a problem
};

// The findings of a doctor, in the order in which it looked.
class Findings {
  public:
    void good(std::string subject, std::string detail) {
        all_.push_back({Verdict::good, std::move(subject), std::move(detail), {}});
    }
    void doubtful(std::string subject, std::string detail, std::string advice) {
        all_.push_back(
            {Verdict::doubtful, std::move(subject), std::move(detail), std::move(advice)});
    }
    void bad(std::string subject, std::string detail, std::string advice) {
        all_.push_back({Verdict::bad, std::move(subject), std::move(detail), std::move(advice)});
    }
    const std::vector<Finding>& all() const { return all_; }

  private:
    std::vector<Finding> all_;
};

}  // namespace sluice
