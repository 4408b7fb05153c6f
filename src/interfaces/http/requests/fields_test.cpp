#include "interfaces/http/requests/fields.hpp"

#include <gtest/gtest.h>

namespace sluice::http {
namespace fields_test {

Result<std::optional<std::int64_t>> resume_at(std::string_view header) {
    Request request;
    request.headers.push_back({"Last-Event-ID", header});
    return last_event_id(request);
}

TEST(LastEventId, IsAPlaceInAStream) {
    EXPECT_EQ(*resume_at("0"), 0);
    EXPECT_EQ(*resume_at("42"), 42);
    EXPECT_EQ(*resume_at("9223372036854775807"), INT64_MAX);
    EXPECT_EQ(*last_event_id(Request{}), std::nullopt);
}

TEST(LastEventId, RefusesWhatIsNoPlace) {
    for (const char* header : {"", "-1", "-0", "+1", " 1", "1 ", "1.5", "1e3", "0x10", "abc",
                               "9223372036854775808", "18446744073709551616"}) {
        EXPECT_FALSE(resume_at(header)) << header;
    }
}

}  // namespace fields_test
}  // namespace sluice::http
