#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "application/ports/commands.hpp"
#include "application/ports/telemetry.hpp"

namespace sluice {

// The metrics of a process, for Prometheus. Thread-safe.
class Metrics : public Telemetry {
  public:
    explicit Metrics(std::string_view version);
    ~Metrics() override;

    void committed(const CommitRecord& record) override;
    void ran(const DutyRun& run) override;

    // One answered request; `route` is a pattern such as /api/v1/jobs/{id}, never a path.
    void answered(std::string_view verb, std::string_view route, int status, Duration took);

    // Large answers: the bytes that are being sent now, and how many answers since the start were
    // aborted to free memory, or refused for lack of it.
    struct Answers {
        std::size_t bytes = 0;
        std::uint64_t cut = 0;
        std::uint64_t refused = 0;
    };
    void answering(const Answers& answers);

    // Everything so far and the depth of the queues, in Prometheus' text format.
    std::string text(const Depths& depths);

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace sluice
