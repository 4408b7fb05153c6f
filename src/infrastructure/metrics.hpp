#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "application/commands.hpp"
#include "application/ports/telemetry.hpp"

namespace sluice {

// Counts what happens, for Prometheus. Thread-safe.
class Metrics : public Telemetry {
  public:
    explicit Metrics(std::string_view version);
    ~Metrics() override;

    void committed(const CommitRecord& record) override;

    // One answered request; `route` is a pattern such as /api/v1/jobs/{id}, never a path.
    void answered(std::string_view verb, std::string_view route, int status, Duration took);

    // Everything so far and the depth of the queues, in Prometheus' text format.
    std::string text(const Depths& depths);

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace sluice
