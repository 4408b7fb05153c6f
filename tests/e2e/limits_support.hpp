#pragma once

#include <gtest/gtest.h>

#include <string>

#include "domain/values/time.hpp"
#include "e2e/api.hpp"

// Shared by tests of rules about what may run. Engines are shared with other tests, so that rules
// name the queue, or a tenant, of their test.
namespace sluice::e2e {

inline Response post(Api& api, const std::string& path, Fields fields,
                     const Headers& headers = {}) {
    fields.insert({{"reason", "a test"}});
    return api.http.post("/api/v1" + path, serialize(fields), headers);
}

inline Json limit(Api& api, Fields fields) {
    fields.insert({{"queue", api.queue()}});
    return expect_ok(post(api, "/limits", std::move(fields)), 201);
}

inline Json rule_of(Api& api, const std::string& id) {
    return api.get("/api/v1/limits/" + id);
}

inline void submit_some(Api& api, int count, const Fields& fields = {}) {
    for (int i = 0; i < count; ++i) api.submit(fields);
}

inline std::string later_by(std::chrono::milliseconds duration) {
    const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    return to_rfc3339(now + duration);
}

}  // namespace sluice::e2e
