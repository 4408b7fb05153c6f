#pragma once

#include <memory>

#include "application/ports/job_reader.hpp"
#include "infrastructure/postgres/connection.hpp"
#include "infrastructure/postgres/outage.hpp"

namespace sluice::postgres {

// Reads on a connection of its own, which it opens when it is first asked, and again after it was
// lost. For one thread at a time.
class PostgresReader final : public JobReader {
  public:
    explicit PostgresReader(ConnectOptions options);

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    std::vector<Job> list(const JobFilter& filter, JobId before, int limit) override;
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override;
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override;
    std::vector<JobId> ids_after(JobId after, int limit) override;
    std::optional<Depths> depths() override;

  private:
    template <class Read>
    auto try_twice(const Read& read);
    template <class Read>
    auto try_once(const Read& read);
    void connect();

    ConnectOptions options_;
    std::unique_ptr<Connection> connection_;
    Outage outage_;
};

}  // namespace sluice::postgres
