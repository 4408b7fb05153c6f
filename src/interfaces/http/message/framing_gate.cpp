#include "interfaces/http/message/framing_gate.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "domain/values/ascii.hpp"
#include "interfaces/http/message/url.hpp"

namespace sluice::http {
namespace {

constexpr Rejection bad_line_end{400, "bad_request", "lines of the head must end with CR LF"};
constexpr Rejection bad_fold{400, "bad_request", "folded header lines are not accepted"};
constexpr Rejection bad_control{400, "bad_request", "the head contains a control character"};
constexpr Rejection no_request_line{400, "bad_request", "the request line is empty"};
constexpr Rejection head_too_long{
    431, "header_too_large",
    "the request head is too long (limits.header_bytes); send fewer or shorter headers"};
constexpr Rejection target_too_long{
    414, "target_too_long",
    "the request target is too long (limits.target_bytes, limits.header_bytes); shorten it"};
constexpr Rejection too_many_headers{
    431, "header_too_large", "there are too many header fields (limits.header_count); send fewer"};
constexpr Rejection bad_version{505, "version_not_supported", "only HTTP/1.1 and 1.0 are served"};
constexpr Rejection bad_target{400, "bad_target",
                               "the target must be an absolute path of printable ASCII, or http "
                               "or https with this host and such a path"};
constexpr Rejection bad_escape{
    400, "bad_target",
    "the path has a refused percent-encoding: write UTF-8 text as %XX, and neither %2F nor %00"};
constexpr Rejection no_length{411, "length_required",
                              "a body must be sent either with Content-Length or, in HTTP/1.1, "
                              "with \"Transfer-Encoding: chunked\" and nothing else; without "
                              "trailers"};
constexpr Rejection bad_length{400, "bad_content_length",
                               "Content-Length must be sent at most once, as 1 to 10 digits"};
constexpr Rejection unwanted_body{400, "unexpected_body", "this method takes no request body"};
constexpr Rejection bad_host{400, "bad_host", "exactly one well-formed Host header is required"};
constexpr Rejection two_hosts{400, "bad_host", "target and Host header name different hosts"};
constexpr Rejection foreign_host{
    421, "misdirected",
    "the host of the request is not in allowed_hosts of the engine; add it, or use one that is"};
constexpr Rejection repeated{400, "repeated_header",
                             "Authorization, Content-Type, Idempotency-Key, and Last-Event-ID "
                             "may be sent once only"};
constexpr Rejection bad_expectation{417, "expectation_failed",
                                    "no expectation other than 100-continue is met"};

// Paths for programs that watch the engine. Some of them, such as HAProxy's plain "option httpchk",
// speak HTTP/1.0 and know no Host header; the answer is the same for every host.
constexpr std::array<std::string_view, 3> watched_paths{"/healthz", "/readyz", "/metrics"};

// The facts that one pass over the header fields collects.
struct Survey {
    int hosts = 0;
    int lengths = 0;
    int authorizations = 0;
    int content_types = 0;
    int idempotency_keys = 0;
    int last_event_ids = 0;
    int codings = 0;
    bool has_trailer = false;
    bool wants_close = false;
    bool wants_keep_alive = false;
    bool has_expectation = false;
    bool expects_only_continue = true;
    std::string_view host;
    std::string_view length;
    std::string_view coding;
    std::string_view request_id;
};

// A target in its two forms: /path?query, and with the scheme and the host before it.
struct Target {
    std::string_view origin;  // path and query
    std::string_view authority{};
    std::string_view default_port{};
};

// Given lambdas rather than function names, which the compiler would call for each character.
template <class Predicate>
bool all(std::string_view text, Predicate holds) {
    return std::all_of(text.begin(), text.end(), holds);
}

bool is_well_formed_request_id(std::string_view id) {
    if (id.empty() || id.size() > 64) return false;
    return all(id,
               [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool lists(std::string_view tokens, std::string_view wanted) {
    while (!tokens.empty()) {
        const std::size_t end = std::min(tokens.find(','), tokens.size());
        std::string_view token = tokens.substr(0, end);
        while (!token.empty() && (token.front() == ' ' || token.front() == '\t')) {
            token.remove_prefix(1);
        }
        while (!token.empty() && (token.back() == ' ' || token.back() == '\t')) {
            token.remove_suffix(1);
        }
        if (equals_ignoring_case(token, wanted)) return true;
        tokens.remove_prefix(std::min(end + 1, tokens.size()));
    }
    return false;
}

void survey_field(Survey& seen, const HeaderField& field) {
    const auto is = [&](std::string_view name) { return equals_ignoring_case(field.name, name); };
    switch (field.name.size()) {  // most fields need no comparison at all
        case 4:
            if (is("Host")) ++seen.hosts, seen.host = field.value;
            break;
        case 6:
            if (!is("Expect")) break;
            seen.has_expectation = true;
            if (!equals_ignoring_case(field.value, "100-continue")) {
                seen.expects_only_continue = false;
            }
            break;
        case 7: seen.has_trailer |= is("Trailer"); break;
        case 10:
            if (!is("Connection")) break;
            seen.wants_close |= lists(field.value, "close");
            seen.wants_keep_alive |= lists(field.value, "keep-alive");
            break;
        case 12:
            seen.content_types += is("Content-Type");
            if (is("X-Request-Id") && is_well_formed_request_id(field.value)) {
                seen.request_id = field.value;
            }
            break;
        case 13:
            seen.authorizations += is("Authorization");
            seen.last_event_ids += is("Last-Event-ID");
            break;
        case 14:
            if (is("Content-Length")) ++seen.lengths, seen.length = field.value;
            break;
        case 15: seen.idempotency_keys += is("Idempotency-Key"); break;
        case 17:
            if (is("Transfer-Encoding")) ++seen.codings, seen.coding = field.value;
            break;
        default: break;
    }
}

// Escapes are checked as a whole: one that is refused in any segment refuses the path.
bool has_sound_escapes(std::string_view path) {
    if (path.find('%') == std::string_view::npos) return true;
    for (std::size_t i = path.find('%'); i < path.size(); i = path.find('%', i + 1)) {
        if (equals_ignoring_case(path.substr(i, 3), "%2f")) return false;
    }
    return percent_decode(path).has_value();
}

std::optional<Target> read_absolute_form(std::string_view target) {
    struct Scheme {
        std::string_view start;
        std::string_view port;
    };
    for (const Scheme& scheme : {Scheme{"http://", "80"}, Scheme{"https://", "443"}}) {
        if (!equals_ignoring_case(target.substr(0, scheme.start.size()), scheme.start)) continue;
        target.remove_prefix(scheme.start.size());
        const std::size_t end = std::min(target.find_first_of("/?"), target.size());
        const std::string_view authority = target.substr(0, end);
        target.remove_prefix(end);
        if (authority.empty() || target.starts_with('?')) return std::nullopt;
        return Target{target.empty() ? "/" : target, authority, scheme.port};
    }
    return std::nullopt;
}

std::variant<Target, Rejection> read_target(std::string_view text, const GateRules& rules) {
    if (text.size() > rules.target_bytes) return target_too_long;
    if (!all(text, [](char c) { return c >= 0x21 && c <= 0x7e && c != '#'; })) return bad_target;
    const auto target =
        text.starts_with('/') ? std::optional(Target{text}) : read_absolute_form(text);
    if (!target) return bad_target;
    if (!has_sound_escapes(path_of(target->origin))) return bad_escape;
    return *target;
}

std::string_view port_of(std::string_view host, std::string_view otherwise) {
    const std::size_t colon = host.rfind(':');
    if (colon == host.npos || host.ends_with(']') || colon + 1 == host.size()) return otherwise;
    return host.substr(colon + 1);
}

bool may_lack_host(const Head& head, const Target& target) {
    const bool is_question = head.verb == Verb::get || head.verb == Verb::head;
    const auto& paths = watched_paths;
    return head.version == 10 && is_question &&
           std::find(paths.begin(), paths.end(), path_of(target.origin)) != paths.end();
}

// A target that names a host other than the Host header is refused, and not served for the host of
// the target: a proxy in front may have used the header.
std::optional<Rejection> check_host(const Head& head, const Target& target, const Survey& seen,
                                    const GateRules& rules) {
    const std::string_view authority = target.authority;
    const bool is_hostless = seen.hosts == 0 && may_lack_host(head, target);
    if (is_hostless && authority.empty()) return std::nullopt;
    if (!is_hostless && seen.hosts != 1) return bad_host;
    const std::string_view host = is_hostless ? authority : seen.host;
    const std::optional<std::string> name = normal_host(host);
    if (!name) return bad_host;
    if (!authority.empty()) {
        const std::string_view port = target.default_port;
        const bool is_same =
            normal_host(authority) == name && port_of(authority, port) == port_of(host, port);
        if (!is_same) return two_hosts;
    }
    const auto& allowed = rules.allowed_hosts;
    if (allowed.empty()) return std::nullopt;
    if (std::find(allowed.begin(), allowed.end(), *name) == allowed.end()) return foreign_host;
    return std::nullopt;
}

// Programs read tabs, other cases and more spaces in different ways, so only one form is accepted:
// the one that clients use.
bool is_plainly_chunked(std::string_view value, std::string_view head) {
    if (value != "chunked") return false;
    const auto at = static_cast<std::size_t>(value.data() - head.data());
    const std::string_view before = head.substr(at - 2, 2);
    return (before == ": " || before.ends_with(':')) &&
           head.substr(at + value.size()).starts_with("\r\n");
}

bool is_chunked_alone(const Survey& seen, const Head& head) {
    return seen.codings == 1 && seen.lengths == 0 && head.version == 11 &&
           is_plainly_chunked(seen.coding, head.bytes);
}

std::variant<std::size_t, Rejection> read_length(const Survey& seen) {
    if (seen.lengths == 0) return std::size_t{0};
    if (seen.lengths > 1 || seen.length.empty() || seen.length.size() > 10) return bad_length;
    if (!all(seen.length, [](char c) { return is_digit(c); })) return bad_length;
    std::size_t bytes = 0;
    std::from_chars(seen.length.data(), seen.length.data() + seen.length.size(), bytes);
    return bytes;
}

bool takes_no_body(Verb verb) {
    return verb == Verb::get || verb == Verb::head || verb == Verb::remove || verb == Verb::options;
}

bool is_host_character(char c) {
    constexpr std::string_view refused = "/\\@?#,\"<>^`{|}[]:";
    return c > 0x20 && c < 0x7f && refused.find(c) == std::string_view::npos;
}

}  // namespace

Rejection HeadScanner::too_long() const {
    return line_start_ == 0 ? target_too_long : head_too_long;
}

HeadScanner::Outcome HeadScanner::scan(std::string_view bytes, const GateRules& rules) {
    const std::size_t end = std::min(bytes.size(), rules.header_bytes);
    for (; scanned_ < end; ++scanned_) {
        const char c = bytes[scanned_];
        const auto byte = static_cast<unsigned char>(c);
        if (byte > 0x20 && byte != 0x7f) [[likely]]
            continue;

        if (c == '\r') {
            if (scanned_ + 1 == end) break;  // judged together with the byte that follows it
            if (bytes[scanned_ + 1] != '\n') return bad_line_end;
            if (scanned_ == 0) return no_request_line;
            if (scanned_ == line_start_) return Complete{scanned_ + 2};
            line_start_ = scanned_ + 2;
            ++scanned_;
        } else if (c == '\n') {
            return bad_line_end;
        } else if (c != ' ' && c != '\t') {
            return bad_control;
        } else if (scanned_ == line_start_) {
            return bad_fold;
        }
    }
    if (bytes.size() >= rules.header_bytes) return too_long();
    return NeedMore{};
}

std::variant<Framing, Rejection> check_framing(const Head& head, const GateRules& rules) {
    if (head.version != 11 && head.version != 10) return bad_version;
    if (head.headers.size() > rules.header_count) return too_many_headers;
    Survey seen;
    for (const HeaderField& field : head.headers) survey_field(seen, field);

    const bool is_chunked = is_chunked_alone(seen, head);
    if (seen.has_trailer || (seen.codings > 0 && !is_chunked)) return no_length;
    const auto length = read_length(seen);
    if (const auto* rejection = std::get_if<Rejection>(&length)) return *rejection;
    const auto target = read_target(head.target, rules);
    if (const auto* rejection = std::get_if<Rejection>(&target)) return *rejection;
    if (const auto rejection = check_host(head, std::get<Target>(target), seen, rules)) {
        return *rejection;
    }
    if (seen.authorizations > 1 || seen.content_types > 1 || seen.idempotency_keys > 1 ||
        seen.last_event_ids > 1) {
        return repeated;
    }

    Framing framing;
    framing.target = std::get<Target>(target).origin;
    framing.body_bytes = std::get<std::size_t>(length);
    framing.is_chunked = is_chunked;
    if (framing.has_body() && takes_no_body(head.verb)) return unwanted_body;
    if (!seen.expects_only_continue) return bad_expectation;
    framing.expects_continue = seen.has_expectation && head.version == 11;
    framing.says_keep_alive = head.version == 10 && seen.wants_keep_alive && !seen.wants_close;
    framing.keep_alive = framing.says_keep_alive || (head.version == 11 && !seen.wants_close);
    framing.request_id = seen.request_id;
    return framing;
}

std::optional<Rejection> check_body_size(const Framing& framing, std::size_t body_bytes_max) {
    if (framing.body_bytes > body_bytes_max) return body_too_large;
    return std::nullopt;
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

std::optional<std::string> normal_host(std::string_view host) {
    std::string_view name = host;
    std::string_view port;
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        name = host.substr(1, end - 1);
        port = host.substr(end + 1);
        const bool is_address = all(name, [](char c) {
            return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f') || c == ':' ||
                   c == '.';
        });
        if (!is_address) return std::nullopt;
    } else {
        name = host.substr(0, host.find(':'));
        port = host.substr(name.size());
        if (!all(name, [](char c) { return is_host_character(c); })) return std::nullopt;
    }
    if (name.empty() || name.size() > 255) return std::nullopt;
    if (!port.empty() && (port.front() != ':' || port.size() > 6)) return std::nullopt;
    if (!port.empty() && !all(port.substr(1), [](char c) { return is_digit(c); })) {
        return std::nullopt;
    }

    return lowered(name);
}

}  // namespace sluice::http
