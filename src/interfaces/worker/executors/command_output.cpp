#include "interfaces/worker/executors/command_output.hpp"

#include "domain/values/duration_text.hpp"
#include "json/json_reader.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t ending_bytes = 2048;
constexpr std::size_t group_name_bytes = 200;
constexpr std::size_t groups_max = 32;
constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return std::nullopt;
    return text.substr(prefix.size());
}

// Whole characters only.
std::string_view cut(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

std::string group_json(std::string_view member, std::string_view name) {
    return json_object_text([&](JsonWriter& json) { json.field(member, name); });
}

// Keeps the end of a text that grows: whole lines where they fit, whole characters otherwise.
void append_to_end(std::string& end, std::string_view text) {
    end.append(text);
    if (end.size() <= 2 * ending_bytes) return;
    std::size_t from = end.size() - ending_bytes;
    const std::size_t line = end.find('\n', from);
    if (line != std::string::npos && line + 1 < end.size()) from = line + 1;
    while (from < end.size() && (static_cast<unsigned char>(end[from]) & 0xC0) == 0x80) ++from;
    end.erase(0, from);
}

std::string_view last_part(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.size() <= ending_bytes) return text;
    text.remove_prefix(text.size() - ending_bytes);
    const std::size_t line = text.find('\n');
    if (line != std::string_view::npos) return text.substr(line + 1);
    while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80) {
        text.remove_prefix(1);
    }
    return text;
}

}  // namespace

void CommandOutput::take(const OutputLine& line) {
    bool& in_line = line.stream == Stream::output ? in_output_line_ : in_errors_line_;
    const bool is_whole = !line.continues && !in_line;
    if (is_whole && line.text.starts_with("::") && obey(line.text)) return;
    remember(line);
    in_line = line.continues;
    log(line.stream == Stream::output ? client::Level::info : client::Level::warn, line.text);
}

bool CommandOutput::obey(std::string_view line) {
    if (const auto words = after(line, "::progress ")) return set_progress(*words);
    if (const auto name = after(line, "::group::")) {
        open_group(cut(trimmed(*name), group_name_bytes));
        return true;
    }
    if (line == "::endgroup::") return close_group();
    if (const auto text = after(line, "::warning::")) {
        log(client::Level::warn, *text);
        return true;
    }
    if (const auto text = after(line, "::error::")) {
        log(client::Level::error, *text);
        append_to_end(errors_end_, std::string(*text) + '\n');
        return true;
    }
    return false;
}

bool CommandOutput::set_progress(std::string_view words) {
    words = trimmed(words);
    const std::size_t space = words.find_first_of(blanks);
    std::string_view number = words.substr(0, space);
    if (number.ends_with('%')) number.remove_suffix(1);
    const auto percent = parse_integer(number);
    if (!percent || *percent < 0 || *percent > 100) return false;
    const std::string_view message =
        space == std::string_view::npos ? std::string_view{} : trimmed(words.substr(space));
    context_.progress(static_cast<int>(*percent), message);
    return true;
}

void CommandOutput::open_group(std::string_view name) {
    if (groups_.size() == groups_max) {
        ++groups_too_deep_;
        log(client::Level::info, name);
        return;
    }
    groups_.emplace_back(name);
    group_data_ = group_json("group", name);
    context_.log().info(name, group_data_);
}

bool CommandOutput::close_group() {
    if (groups_too_deep_ > 0) {
        --groups_too_deep_;
        return true;
    }
    if (groups_.empty()) return false;
    context_.log().info(groups_.back(), group_json("group_end", groups_.back()));
    groups_.pop_back();
    group_data_ = groups_.empty() ? std::string() : group_json("group", groups_.back());
    return true;
}

void CommandOutput::log(client::Level level, std::string_view text) {
    context_.log().write(level, text, group_data_);
}

void CommandOutput::remember(const OutputLine& line) {
    std::string& end = line.stream == Stream::output ? output_end_ : errors_end_;
    append_to_end(end, line.text);
    if (!line.continues) append_to_end(end, "\n");
    if (line.stream != Stream::output) return;

    if (in_output_line_) {
        const bool is_candidate = !last_line_.empty();
        if (is_candidate) last_line_.append(line.text);
        if (last_line_.size() > result_bytes_max) last_line_.clear();
    } else {
        const std::string_view text = trimmed(line.text);
        if (!text.empty()) {
            const bool is_candidate = text.front() == '{' || text.front() == '[';
            last_line_.assign(is_candidate ? line.text : std::string_view{});
        }
    }
}

std::optional<std::string> CommandOutput::result() const {
    if (last_line_.empty()) return std::nullopt;
    JsonReader reader(last_line_);
    const std::string_view json = reader.raw();
    if (!reader.finish()) return std::nullopt;
    return std::string(json);
}

std::string_view CommandOutput::ending() const {
    return last_part(errors_end_.empty() ? output_end_ : errors_end_);
}

}  // namespace sluice::worker
