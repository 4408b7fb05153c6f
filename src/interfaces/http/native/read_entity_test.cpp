#include "interfaces/http/native/read_entity.hpp"

#include <gtest/gtest.h>

#include "support/quiet_app.hpp"

namespace sluice::http::native {
namespace read_entity_test {

Result<EntityListQuery> read_list(std::string_view query, const std::string& tenant = "acme") {
    QuietApp app;
    Request request;
    request.query = query;
    return read_entity_list(app.call(request, std::make_shared<Caller>(Caller{.tenant = tenant})),
                            "");
}

std::string cursor_of(std::string_view query) {
    return "cursor=" + entity_cursor(*read_list(query), 5);
}

TEST(EntityCursor, LeadsOnInTheListThatGaveIt) {
    const std::string filters = "kind=site&parent=p&state=active,failed";
    const auto next = read_list(filters + "&" + cursor_of(filters));
    ASSERT_TRUE(next);
    EXPECT_EQ(next->before, 5);
    EXPECT_FALSE(read_list("kind=site&" + cursor_of(filters)));
    EXPECT_FALSE(read_list(filters + "&" + cursor_of(filters), "other"));
}

// Filters that would be the same text if they were only put behind each other.
TEST(EntityCursor, TellsFiltersWithLineBreaksApart) {
    EXPECT_FALSE(read_list("kind=a&parent=b&state=,&" + cursor_of("kind=a%0Ab")));
    EXPECT_FALSE(read_list("kind=a&parent=b&state=c&" + cursor_of("kind=a&parent=b%0Ac")));
    EXPECT_FALSE(read_list("kind=ab&" + cursor_of("kind=a&parent=b")));
}

}  // namespace read_entity_test
}  // namespace sluice::http::native
