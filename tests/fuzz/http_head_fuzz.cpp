// The framing gate and the grammar behind it. Beyond not breaking: the bytes are judged alike in
// whatever pieces they come; what is accepted has the one length that a simple reader finds; and
// written out again it is framed as before.
#include <algorithm>
#include <string>

#include "input.hpp"
#include "interfaces/http/ascii.hpp"
#include "interfaces/http/request_parser.hpp"

namespace sluice::http {
namespace {

using fuzz::expect;

HeadScanner::Outcome scan_in_pieces(std::string_view bytes, const GateRules& rules) {
    HeadScanner scanner;
    HeadScanner::Outcome outcome;
    for (std::size_t end = 1; end <= bytes.size(); ++end) {
        outcome = scanner.scan(bytes.substr(0, end), rules);
        if (!std::holds_alternative<HeadScanner::NeedMore>(outcome)) break;
    }
    return outcome;
}

// How a reader that knows nothing but lines finds a header's values.
std::vector<std::string_view> values_of(std::string_view head, std::string_view name) {
    std::vector<std::string_view> values;
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
        const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
        const std::size_t colon = line.find(':');
        if (colon != line.npos && equals_ignoring_case(line.substr(0, colon), name)) {
            std::string_view value = line.substr(colon + 1);
            while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
                value.remove_prefix(1);
            while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
                value.remove_suffix(1);
            values.push_back(value);
        }
        at += line.size() + 2;
    }
    return values;
}

std::string rewritten(std::string_view bytes, const Head& head) {
    std::string out(bytes.substr(0, bytes.find(' ')));
    out +=
        " " + std::string(head.target) + (head.version == 11 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
    for (const HeaderField& field : head.headers) {
        out += std::string(field.name) + ": " + std::string(field.value) + "\r\n";
    }
    return out + "\r\n";
}

void check_accepted(std::string_view bytes, const Head& head, const Framing& framing,
                    const GateRules& rules) {
    const auto lengths = values_of(bytes, "Content-Length");
    expect(lengths.size() <= 1, "one length at most");
    expect(lengths.empty() ? framing.body_bytes == 0
                           : std::stoull(std::string(lengths[0])) == framing.body_bytes,
           "the length is the one that stands there");
    expect(values_of(bytes, "Transfer-Encoding").empty(), "no transfer coding");
    expect(values_of(bytes, "Host").size() == 1, "one host");
    expect(head.target.starts_with('/'), "the target is a path");

    GateRules roomy = rules;
    roomy.header_bytes *= 2;  // it may have become longer by the spaces after colons
    const std::string again = rewritten(bytes, head);
    HeadScanner scanner;
    const auto outcome = scanner.scan(again, roomy);
    const auto* complete = std::get_if<HeadScanner::Complete>(&outcome);
    expect(complete != nullptr && complete->head_bytes == again.size(), "it is a head again");
    Head second;
    expect(!parse_head(again, second), "it can be read again");
    const auto checked = check_framing(second, roomy);
    const auto* framed = std::get_if<Framing>(&checked);
    expect(framed != nullptr && framed->body_bytes == framing.body_bytes &&
               framed->keep_alive == framing.keep_alive &&
               framed->expects_continue == framing.expects_continue,
           "it is framed as before");
    expect(second.verb == head.verb && second.target == head.target &&
               second.headers.size() == head.headers.size(),
           "it says the same");
}

}  // namespace

void run(std::string_view input) {
    const GateRules rules;
    HeadScanner scanner;
    const auto outcome = scanner.scan(input, rules);
    expect(scan_in_pieces(input, rules).index() == outcome.index() || input.empty(),
           "pieces are judged as the whole");
    const auto* complete = std::get_if<HeadScanner::Complete>(&outcome);
    if (complete == nullptr) return;
    expect(complete->head_bytes <= input.size(), "a head is no longer than its bytes");
    const std::string_view bytes = input.substr(0, complete->head_bytes);
    Head head;
    if (parse_head(bytes, head)) return;
    const auto framing = check_framing(head, rules);
    if (const auto* accepted = std::get_if<Framing>(&framing)) {
        check_accepted(bytes, head, *accepted, rules);
    }
}

}  // namespace sluice::http

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sluice::http::run(sluice::fuzz::text_of(data, size));
    return 0;
}
