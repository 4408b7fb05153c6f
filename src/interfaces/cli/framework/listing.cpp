#include "interfaces/cli/framework/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

#include "domain/values/duration_text.hpp"
#include "domain/values/time.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "json/json_writer.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t column_gap = 2;
constexpr std::size_t column_min = 8;

using Row = std::vector<std::string>;

std::string header_of(const std::string& field) {
    std::string header = field;
    for (char& c : header) {
        c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return header;
}

std::vector<Column> table_columns(const Session& session, const Listing& listing) {
    std::vector<Column> columns = listing.table;
    if (session.format() == OutputFormat::wide) {
        columns.insert(columns.end(), listing.wide.begin(), listing.wide.end());
    }
    if (!session.has_fields()) return columns;
    columns.clear();
    for (const std::string& field : session.fields_or({}, listing.fields)) {
        columns.push_back({field, header_of(field)});
    }
    return columns;
}

std::string relative_time(const std::string& text) {
    const auto time = parse_rfc3339(text);
    if (!time) return text;
    const Duration age = now() - *time;
    return age < Duration::zero() ? "in " + short_duration(-age) : short_duration(age);
}

std::size_t row_width(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), column_gap * (widths.size() - 1));
}

// Makes the widest columns narrower until a row fits; ids and states stay whole. When that is not
// enough, columns at the end are left out.
void fit(std::vector<std::size_t>& widths, std::vector<Column>& columns, std::size_t width) {
    while (width > 0 && row_width(widths) > width) {
        std::size_t widest = columns.size();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].field == "id" || columns[i].field == "state") continue;
            if (widths[i] <= column_min) continue;
            if (widest == columns.size() || widths[i] > widths[widest]) widest = i;
        }
        if (widest == columns.size()) {
            if (columns.size() == 1) return;
            widths.pop_back();
            columns.pop_back();
            continue;
        }
        const std::size_t excess = row_width(widths) - width;
        widths[widest] = std::max(column_min, widths[widest] - std::min(widths[widest], excess));
    }
}

void append_row(std::string& out, const Row& row, const std::vector<std::size_t>& widths,
                const std::vector<Style>& styles, const Screen& screen) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string cell = clipped(row[i], widths[i]);
        const bool is_last = i + 1 == widths.size();
        line += screen.painted(styles[i], cell);
        if (!is_last) line.append(widths[i] - display_width(cell) + column_gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
}

Style style_of(const std::string& field, const JsonObject& object) {
    if (field == "state" || field == "to") return state_style(object.text(field));
    if (field == "error_code") return Style::red;
    if (field == "level" && object.text(field) == "error") return Style::red;
    if (field == "level" && object.text(field) == "warn") return Style::yellow;
    return Style::plain;
}

// Columns in which no row has anything are left out of a table, but for those that were named.
void drop_empty_columns(const Session& session, std::vector<Column>& columns,
                        std::vector<Row>& rows) {
    if (session.has_fields()) return;
    for (std::size_t i = columns.size(); i-- > 0;) {
        const bool is_empty = std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
            return row[i].empty() || row[i] == "-";
        });
        if (!is_empty) continue;
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
        for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

std::vector<Row> table_rows(const Session& session, const std::vector<Column>& columns,
                            const std::vector<JsonObject>& objects) {
    std::vector<std::string> ids;
    for (const JsonObject& object : objects) ids.push_back(object.text("id"));
    const bool is_wide = session.format() == OutputFormat::wide || session.out().width == 0;
    const std::size_t id_length = is_wide ? std::string::npos : short_id_length(ids);
    std::vector<Row> rows;
    for (const JsonObject& object : objects) {
        Row& row = rows.emplace_back();
        for (const Column& column : columns) {
            std::string text = cell_text(object, column.field);
            if (column.field == "id") text = text.substr(0, id_length);
            if (column.field == "state") {
                text = fmt::format("{} {}", state_symbol(session.out(), text), text);
            }
            row.push_back(text.empty() ? "-" : text);
        }
    }
    return rows;
}

void print_table(const Session& session, const Listing& listing,
                 const std::vector<JsonObject>& objects) {
    std::vector<Column> columns = table_columns(session, listing);
    if (objects.empty()) return session.say("no " + listing.name);
    std::vector<Row> rows = table_rows(session, columns, objects);
    drop_empty_columns(session, columns, rows);
    std::vector<std::size_t> widths;
    Row headers;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::size_t width = display_width(columns[i].header);
        for (const Row& row : rows) width = std::max(width, display_width(row[i]));
        widths.push_back(width);
        headers.push_back(columns[i].header);
    }
    fit(widths, columns, session.out().width);
    std::string out;
    append_row(out, headers, widths, std::vector<Style>(columns.size(), Style::dim), session.out());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<Style> styles;
        for (const Column& column : columns) styles.push_back(style_of(column.field, objects[i]));
        append_row(out, rows[i], widths, styles, session.out());
    }
    session.put(out);
}

void print_plain(const Session& session, const Listing& listing,
                 const std::vector<JsonObject>& objects) {
    const auto fields = session.fields_or(listing.plain, listing.fields);
    std::string out = fmt::format("{}\n", fmt::join(fields, "\t"));
    for (const JsonObject& object : objects) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i > 0) out += '\t';
            out += printable(object.text(fields[i]));
        }
        out += '\n';
    }
    session.put(out);
}

void print_json(const Session& session, const Listing& listing,
                const std::vector<std::string>& objects, const Document& document) {
    if (!document.json.empty() && !session.has_fields()) return session.put_json(document.json);
    const auto fields = session.fields_or({}, listing.fields);
    const std::string out = json_object_text([&](JsonWriter& json) {
        json.array(listing.name, objects, [&](const std::string& object) {
            json.raw_value(fields.empty() ? object : JsonObject(object).picked(fields));
        });
        if (!document.more_name.empty()) json.raw_field(document.more_name, document.more);
    });
    session.put_json(out);
}

}  // namespace

std::string cell_text(const JsonObject& object, const std::string& field) {
    const std::string text = object.text(field);
    static const std::set<std::string> times{
        "created_at", "started_at", "completed_at",     "run_after", "locked_at",  "lease_until",
        "last_claim", "until",      "next_eligible_at", "since",     "last_job_at"};
    if (times.contains(field)) return printable(relative_time(text));
    if (field == "at" || field == "timestamp" || field == "revoked_at") {
        const auto time = parse_rfc3339(text);
        return time ? absolute_time(*time) : printable(text);
    }
    if (field == "attempt" && object.raw("max_attempts")) {
        return text + "/" + object.text("max_attempts");
    }
    if (field == "entity_type" && !text.empty()) {
        return printable(text + "/" + object.text("entity_id"));
    }
    if (field == "error_code") {
        const std::string message = object.text("error_message");
        return printable(text.empty() || message.empty() ? text + message : text + " " + message);
    }
    if (field == "progress" && !text.empty()) return text + "%";
    if (field == "expires_at") {
        const auto time = parse_rfc3339(text);
        return time ? absolute_time(*time) : "never";
    }
    if ((field == "queues" || field == "types") && text.empty()) return "any";
    const bool is_yes_or_no = field == "waiting" || field == "open" || field == "paused";
    if (is_yes_or_no && (text == "true" || text == "false")) return text == "true" ? "yes" : "no";
    if (field == "timeout_ms") {
        const auto millis = parse_integer(text);
        return !millis ? text : *millis == 0 ? "none" : duration_text(from_millis(*millis));
    }
    return printable(text);
}

Style state_style(std::string_view state) {
    if (state == "succeeded") return Style::green;
    if (state == "failed" || state == "timed_out") return Style::red;
    if (state == "canceled") return Style::yellow;
    if (state == "running") return Style::cyan;
    return Style::plain;
}

const char* state_symbol(const Screen& screen, std::string_view state) {
    if (state == "succeeded") return screen.symbol("✔", "+");
    if (state == "failed" || state == "timed_out") return screen.symbol("✖", "x");
    if (state == "canceled") return screen.symbol("⊘", "-");
    if (state == "running") return screen.symbol("▶", ">");
    return screen.symbol("…", ".");
}

void print_listing(const Session& session, const Listing& listing,
                   const std::vector<std::string>& objects, const Document& document) {
    if (session.format() == OutputFormat::json) {
        return print_json(session, listing, objects, document);
    }
    const auto fields = session.fields_or({}, listing.fields);
    if (session.format() == OutputFormat::jsonl) {
        for (const std::string& object : objects) {
            session.put_json(
                on_one_line(fields.empty() ? object : JsonObject(object).picked(fields)));
        }
        return;
    }
    std::vector<JsonObject> parsed(objects.begin(), objects.end());
    if (session.format() == OutputFormat::name) {
        for (const JsonObject& object : parsed) {
            session.put_line(printable(object.text(listing.id_field)));
        }
    } else if (session.format() == OutputFormat::plain) {
        print_plain(session, listing, parsed);
    } else {
        print_table(session, listing, parsed);
    }
}

void print_object(const Session& session, const Listing& listing, const std::string& object) {
    const auto fields = session.fields_or({}, listing.fields);
    if (session.prints_json()) {
        const std::string json = fields.empty() ? object : JsonObject(object).picked(fields);
        session.put_json(session.format() == OutputFormat::jsonl ? on_one_line(json) : json);
        return;
    }
    const JsonObject parsed(object);
    if (session.format() == OutputFormat::name) {
        return session.put_line(printable(parsed.text(listing.id_field)));
    }
    std::string out;
    if (fields.empty()) {
        for (const auto& [name, value] : parsed.members()) {
            out += fmt::format("{}\t{}\n", printable(name), printable(parsed.text(name)));
        }
    }
    for (const std::string& field : fields) {
        out += fmt::format("{}\t{}\n", field, printable(parsed.text(field)));
    }
    session.put(out);
}

}  // namespace sluice::cli
