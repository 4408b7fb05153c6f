#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/result.hpp"
#include "interfaces/http/native/fields.hpp"
#include "json/json_writer.hpp"

// Pages of what is numbered: events and log lines.
namespace sluice::http::native {

struct Page {
    std::int64_t after = 0;
    int limit = 0;
};

// The parameters `after` and `limit`.
inline Result<Page> read_page(const QueryParams& params) {
    constexpr std::int64_t items_max = 1000;
    const auto after = number_param(params, "after", 0, INT64_MAX, 0);
    if (!after) return after.error();
    const auto limit = number_param(params, "limit", 1, items_max, 200);
    if (!limit) return limit.error();
    return Page{*after, static_cast<int>(*limit)};
}

// {"<list>":[…],"<next>":<the number to go on after>}. A page that gets long ends early.
template <class Item, class Write>
std::string page_text(std::string_view list, std::string_view next, const std::vector<Item>& items,
                      std::int64_t after, Write write) {
    constexpr std::size_t page_bytes = 4 * 1024 * 1024;
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.key(list);
    json.begin_array();
    for (const Item& item : items) {
        if (out.size() > page_bytes) break;
        write(json, item);
        after = item.seq;
    }
    json.end_array();
    json.field(next, after);
    json.end_object();
    return out;
}

}  // namespace sluice::http::native
