#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "e2e/api.hpp"

namespace sluice::e2e {

// A client of /api/jobs and the workers behind it, within one action, so that tests which share an
// engine do not meet. Calls that must not be refused throw when they are. One thread.
class JobsApi {
  public:
    explicit JobsApi(std::uint16_t port) : worker(port, "default"), action(fresh_name("action")) {}

    Api worker;
    const std::string action;

    std::uint16_t port() const { return worker.port(); }

    // Makes a job of `action` unless the fields say otherwise.
    Json create(const Fields& fields = {});
    std::string create_id(const Fields& fields = {}) { return text(create(fields), "id"); }
    Response try_create(const Fields& fields, const Headers& headers = {});
    Response post(const std::string& body, const Headers& headers = {});

    Json claim(const Fields& fields = {});  // throws when there is no job
    bool nothing_to_claim();
    std::string run_to_end(const Fields& report);  // makes, claims and ends a job
    std::string succeeded() { return run_to_end({{"outcome", "succeeded"}}); }
    std::string failed() { return run_to_end({{"outcome", "failed"}}); }
    std::string cancelled();

    Response get(const std::string& path = {}, const Headers& headers = {});
    Json job(const std::string& id);
    std::string state(const std::string& id) { return text(job(id), "state"); }
    bool reaches(const std::string& id, const std::string& state);
    List logs(const std::string& id);
    List list_of(const std::string& query);
    std::vector<std::string> ids_of(const std::string& query);
    Response cancel(const std::string& id, const Fields& fields = {});
    Response replay(const std::string& id, const Fields& fields = {});

    // All events of a stream of the job, from this event on.
    std::vector<StreamEvent> stream(const std::string& id, const std::string& last_event_id = {});
};

std::string stream_path(const std::string& id);
Json log_entry(const std::string& message);

class JobsTest : public testing::Test {
  protected:
    Engine& engine = shared_engine("sqlite");
    JobsApi jobs{engine.port()};
};

}  // namespace sluice::e2e
