#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "domain/entities/entity.hpp"
#include "domain/values/result.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/store_answer.hpp"
#include "json/json_writer.hpp"

// Pages of numbered items: events, log lines and entities.
namespace sluice::http {

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

template <class Item>
std::int64_t number_of(const Item& item) {
    return item.seq;
}
inline std::int64_t number_of(const Entity& entity) {
    return entity.number;
}

// A page of numbered items as a question for its pieces: `begin`, the items that `fetch` reads
// after a number, and the text that `end` makes from the number to go on after. A page that gets
// long ends early. "After" is the order in which `fetch` gives them, which may lead to lower
// numbers.
template <class Fetch, class Write, class End>
struct NumberedPage {
    std::string begin;
    Fetch fetch;  // (JobReader&, after, count) → items in order
    Write write;  // (JsonWriter&, item)
    End end;      // (JobReader&, after) → text
    std::int64_t after = 0;
    int left = 0;
    std::size_t bytes_left = page_bytes - 256;  // the rest is for the end
    int together = 8;                           // how many are likely to fill a piece
    bool has_items = false;                     // in pieces before this one

    Result<StorePiece> operator()(JobReader& reader) const {
        NumberedPage next = *this;  // from the end of the piece on
        std::string text = std::move(next.begin);
        const bool ended = next.read(reader, text);
        if (ended) return json_piece(text + end(reader, next.after));
        StorePiece piece = json_piece(std::move(text));
        next.begin.clear();
        piece.rest = std::move(next);
        return piece;
    }

  private:
    static constexpr int together_max = 256;

    // False: the piece is full, and more may follow.
    bool read(JobReader& reader, std::string& text) {
        int read = 0;
        while (text.size() < piece_bytes) {
            const int wanted = std::min(left, together);
            if (wanted == 0) return true;
            const auto items = fetch(reader, after, wanted);
            for (const auto& item : items) {
                if (text.size() >= piece_bytes) break;
                if (!add(item, text)) return true;
                ++read;
            }
            if (text.size() < piece_bytes && std::ssize(items) < wanted) return true;
            const std::size_t each = text.size() / static_cast<std::size_t>(std::max(read, 1)) + 1;
            together =
                static_cast<int>(std::clamp<std::size_t>(piece_bytes / each, 1, together_max));
        }
        return false;
    }

    // False: the page would get too long.
    bool add(const auto& item, std::string& text) {
        const std::size_t before = text.size();
        if (has_items) text += ',';
        JsonWriter json(text);
        write(json, item);
        const std::size_t bytes = text.size() - before;
        if (has_items && bytes > bytes_left) {
            text.resize(before);
            return false;
        }
        bytes_left -= std::min(bytes, bytes_left);
        has_items = true;
        after = number_of(item);
        --left;
        return true;
    }
};

// {"<list>":[…],"<next>":<the number to go on after>}
template <class Fetch, class Write>
PieceQuestion numbered_page(std::string_view list, std::string_view next, Page page, Fetch fetch,
                            Write write) {
    const auto end = [next](JobReader&, std::int64_t after) {
        return fmt::format("],\"{}\":{}}}", next, after);
    };
    return NumberedPage<Fetch, Write, decltype(end)>{
        fmt::format("{{\"{}\":[", list), fetch, write, end, page.after, page.limit};
}

}  // namespace sluice::http
