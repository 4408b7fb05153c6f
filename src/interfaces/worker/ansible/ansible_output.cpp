#include "interfaces/worker/ansible/ansible_output.hpp"

#include <algorithm>

#include "domain/values/duration_text.hpp"
#include "json/json_writer.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t ending_bytes_max = 10 * 1024;

client::Level level_of(const OutputLine& line) {
    for (const std::string_view begin : {"fatal: ", "failed: ", "ERROR! "}) {
        if (line.text.starts_with(begin)) return client::Level::error;
    }
    return line.stream == Stream::errors ? client::Level::warn : client::Level::info;
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

// "ok=4  changed=1 …" as a JSON object; empty when it is anything else.
std::string counts_json(std::string_view text) {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    bool has_ok = false;
    while (!is_blank(text)) {
        text.remove_prefix(text.find_first_not_of(' '));
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) return {};
        const std::string_view name = word.substr(0, equals);
        const bool is_name = std::all_of(name.begin(), name.end(),
                                         [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
        const auto count = parse_integer(word.substr(equals + 1));
        if (!is_name || !count) return {};
        has_ok = has_ok || name == "ok";
        json.field(name, *count);
    }
    json.end_object();
    return has_ok ? out : std::string();
}

}  // namespace

void AnsibleOutput::take(const OutputLine& line) {
    end_ += line.text;
    if (!line.continues) end_ += '\n';
    // Cut now and then only, so that each byte is moved once on average.
    if (end_.size() > 4 * ending_bytes_max) end_.erase(0, end_.size() - ending_bytes_max);
    if (is_blank(line.text)) return;
    context_.log().write(level_of(line), line.text, {});
    if (line.stream == Stream::output) read_recap(line.text);
}

void AnsibleOutput::read_recap(std::string_view line) {
    if (line.starts_with("PLAY RECAP ")) {
        in_recap_ = true;
        return;
    }
    if (!in_recap_ || !line.starts_with(host_)) return;
    line.remove_prefix(host_.size());
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_blank(line.substr(0, colon))) return;
    if (std::string counts = counts_json(line.substr(colon + 1)); !counts.empty()) {
        recap_ = std::move(counts);
    }
}

std::string AnsibleOutput::ending() const {
    std::string_view end = end_;
    while (end.starts_with('\n')) end.remove_prefix(1);
    if (end.size() <= ending_bytes_max) return std::string(end);
    end.remove_prefix(end.size() - ending_bytes_max);
    const auto is_inside_character = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    };
    while (!end.empty() && is_inside_character(end.front())) end.remove_prefix(1);
    return std::string(end);
}

std::string AnsibleOutput::result() const {
    return recap_.empty() ? std::string() : "{\"recap\":" + recap_ + "}";
}

}  // namespace sluice::worker
