// The framing gate, the grammar behind it, and the chunks of a body. Beyond not breaking: the bytes
// are judged alike in any pieces; an accepted request has the one length that a simple reader
// finds; and written out again it is framed as before.
#include <algorithm>
#include <string>

#include "domain/values/ascii.hpp"
#include "input.hpp"
#include "interfaces/http/message/chunked_body.hpp"
#include "interfaces/http/message/request_parser.hpp"

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

// The header's values as found by a reader that knows nothing but lines.
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

bool is_question(Verb verb) {
    return verb == Verb::get || verb == Verb::head;
}

void check_accepted(std::string_view bytes, const Head& head, const Framing& framing,
                    const GateRules& rules) {
    const auto lengths = values_of(bytes, "Content-Length");
    expect(lengths.size() <= 1, "one length at most");
    expect(lengths.empty() ? framing.body_bytes == 0
                           : std::stoull(std::string(lengths[0])) == framing.body_bytes,
           "the length is the one that stands there");
    const auto codings = values_of(bytes, "Transfer-Encoding");
    expect(codings.size() == (framing.is_chunked ? 1 : 0), "one transfer coding at most");
    expect(!framing.is_chunked || (codings[0] == "chunked" && lengths.empty() &&
                                   head.version == 11 && !is_question(head.verb)),
           "chunks are announced as such, and alone");
    const auto hosts = values_of(bytes, "Host");
    const bool may_lack_host = head.version == 10 && is_question(head.verb);
    expect(hosts.size() == 1 || (hosts.empty() && may_lack_host), "one host");
    expect(framing.target.starts_with('/'), "the target is a path");
    expect(head.target.ends_with(framing.target) || framing.target == "/", "and as it was sent");

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
               framed->is_chunked == framing.is_chunked && framed->target == framing.target &&
               framed->keep_alive == framing.keep_alive &&
               framed->expects_continue == framing.expects_continue,
           "it is framed as before");
    expect(second.verb == head.verb && second.target == head.target &&
               second.headers.size() == head.headers.size(),
           "it says the same");
}

// The decoded body, in pieces of this size.
struct Decoded {
    bool is_complete = false;
    int status = 0;
    std::string body{};
    std::size_t used = 0;

    bool operator==(const Decoded&) const = default;
};

constexpr std::size_t body_bytes_max = 4096;

Decoded decode(std::string_view bytes, std::size_t piece_bytes) {
    ChunkedBody chunks(body_bytes_max);
    Decoded decoded;
    for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
        std::string piece(bytes.substr(at, piece_bytes));
        const std::size_t had = chunks.body_bytes();
        const auto outcome = chunks.take(piece);
        decoded.body += piece.substr(0, chunks.body_bytes() - had);
        if (const auto* rejection = std::get_if<Rejection>(&outcome)) {
            decoded.status = rejection->status;
            return decoded;
        }
        if (const auto* complete = std::get_if<ChunkedBody::Complete>(&outcome)) {
            decoded.is_complete = true;
            decoded.used = at + complete->used;
            return decoded;
        }
    }
    return decoded;
}

// The body as decoded by a reader that believes each size.
std::string simply_decoded(std::string_view bytes) {
    std::string body;
    for (;;) {
        const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
        const std::size_t size = std::stoul(std::string(line), nullptr, 16);
        bytes.remove_prefix(line.size() + 2);
        if (size == 0) break;
        body += bytes.substr(0, size);
        bytes.remove_prefix(size);
        expect(bytes.starts_with("\r\n"), "a chunk ends where its size says");
        bytes.remove_prefix(2);
    }
    expect(bytes == "\r\n", "nothing follows the last chunk");
    return body;
}

void check_chunks(std::string_view bytes) {
    const Decoded whole = decode(bytes, std::max<std::size_t>(bytes.size(), 1));
    for (const std::size_t piece_bytes : {1u, 2u, 7u}) {
        expect(decode(bytes, piece_bytes) == whole, "a body is read alike in all pieces");
    }
    expect(whole.body.size() <= body_bytes_max, "a body stays within its limit");
    if (!whole.is_complete) return;
    expect(simply_decoded(bytes.substr(0, whole.used)) == whole.body,
           "a body is what a simple reader finds");
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
        if (accepted->is_chunked) check_chunks(input.substr(complete->head_bytes));
    }
}

}  // namespace sluice::http

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sluice::http::run(sluice::fuzz::text_of(data, size));
    return 0;
}
