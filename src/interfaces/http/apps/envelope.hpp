#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/result.hpp"
#include "interfaces/http/message/message.hpp"
#include "interfaces/http/message/url.hpp"
#include "json/json_writer.hpp"

// The form of this contract's answers: {"data":…} or {"error":{"code","message","request_id"}}.
namespace sluice::http::apps {

Response refusal(int status, std::string_view code, const std::string& message,
                 std::string_view request_id);
Response refusal_of(const Error& error, std::string_view request_id);

// `write` writes one value.
Response data(int status, const std::function<void(JsonWriter&)>& write);

// The part of a list that is asked for.
struct PageQuery {
    std::int64_t number = 1;
    int limit = 20;

    std::int64_t offset() const { return (number - 1) * limit; }
};

// Reads page and limit. A limit above 100 counts as 100.
Result<PageQuery> read_page_query(const QueryParams& params);

template <class Item>
struct Page {
    std::vector<Item> items;
    std::int64_t total = 0;
};

// The text before and after the items of a page.
inline constexpr std::string_view page_begin = R"({"data":[)";
std::string page_end(const PageQuery& query, std::int64_t total);

// {"data":[…],"pagination":{"page","limit","total"}}
Response page_response(const PageQuery& query, std::int64_t total,
                       const std::function<void(JsonWriter&)>& write_items);

template <class Item, class Write>
Response page_response(const PageQuery& query, const Page<Item>& page, Write write) {
    return page_response(query, page.total, [&](JsonWriter& json) {
        for (const Item& item : page.items) write(json, item);
    });
}

}  // namespace sluice::http::apps
