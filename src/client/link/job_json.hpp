#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json_reader.hpp"
#include "json/json_writer.hpp"
#include "sluice/client.hpp"

// The JSON of the API. Readers ignore unknown fields, so that an engine may be newer than this
// library.
namespace sluice::client {

// A payload may be 31 levels deep by itself, and answers wrap it.
inline constexpr std::size_t answer_depth_max = 48;

// These read the next value. A problem, e.g. a job without id, stays with the reader.
Job read_job(JsonReader& reader);
LogLine read_log_line(JsonReader& reader);
Event read_event(JsonReader& reader);
Explanation read_explanation(JsonReader& reader);
WorkerSeen read_worker(JsonReader& reader);
Update::Status read_status(JsonReader& reader);
std::string read_text(JsonReader& reader);  // a string, or null for an empty one

// Reads `{"<list>":[…], …}`; calls `on_other` for other members, if it is given.
template <class Item>
std::vector<Item> read_list(JsonReader& reader, std::string_view list, Item (*read)(JsonReader&),
                            const std::function<void(std::string_view)>& on_other = {}) {
    std::vector<Item> items;
    bool found = false;
    reader.object([&](std::string_view key) {
        if (key != list) {
            if (on_other) on_other(key);
            return;
        }
        found = true;
        reader.array([&](std::size_t) { items.push_back(read(reader)); });
    });
    if (!found) reader.fail_at(list, "is missing");
    return items;
}

// The problem with this text as one JSON value, nested this deep at the most; empty: none.
std::string problem_with_json(std::string_view text, std::size_t depth_max = JsonLimits::depth);

// Writes a job to submit. `tenant` is used where the job names none. Throws Error (usage) when the
// payload is not JSON.
void write_new_job(JsonWriter& json, const NewJob& job, const std::string& tenant,
                   const std::string& pointer);

}  // namespace sluice::client
