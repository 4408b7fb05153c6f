#include "interfaces/http/message/request_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>

#include "domain/values/ascii.hpp"

// Beast gives the grammar and nothing else: it is fed the head alone, so that neither its reading
// of Content-Length and Transfer-Encoding nor its handling of chunks and trailers ever counts.

namespace sluice::http {
namespace {

namespace beast = boost::beast;

using beast::error_code;

std::string_view view(beast::string_view text) {
    return {text.data(), text.size()};
}

Verb verb_of(beast::http::verb verb) {
    switch (verb) {
        case beast::http::verb::get: return Verb::get;
        case beast::http::verb::head: return Verb::head;
        case beast::http::verb::post: return Verb::post;
        case beast::http::verb::put: return Verb::put;
        case beast::http::verb::patch: return Verb::patch;
        case beast::http::verb::delete_: return Verb::remove;
        case beast::http::verb::options: return Verb::options;
        default: return Verb::other;
    }
}

class HeadParser final : public beast::http::basic_parser<true> {
  public:
    explicit HeadParser(Head& head) : head_(head) {
        header_limit(std::numeric_limits<std::uint32_t>::max());  // the gate has its own
        body_limit(boost::none);
    }

  private:
    void on_request_impl(beast::http::verb verb, beast::string_view, beast::string_view target,
                         int version, error_code& error) override {
        error = {};
        head_.verb = verb_of(verb);
        head_.target = view(target);
        head_.version = version;
    }

    void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                       error_code& error) override {
        error = {};
        head_.headers.push_back(HeaderField{view(name), view(value)});
    }

    void on_header_impl(error_code& error) override { error = {}; }
    void on_finish_impl(error_code& error) override { error = {}; }

    // A parser of requests that is fed heads alone calls none of these.
    void on_response_impl(int, beast::string_view, int, error_code& error) override { error = {}; }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code& error) override {
        error = {};
    }
    std::size_t on_body_impl(beast::string_view text, error_code& error) override {
        error = {};
        return text.size();
    }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code& error) override {
        error = {};
    }
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view text,
                                   error_code& error) override {
        error = {};
        return text.size();
    }

    Head& head_;
};

// Beast stops at the first header that contradicts another, so the head itself is asked.
bool has_transfer_encoding(std::string_view bytes) {
    constexpr std::string_view name = "transfer-encoding:";
    for (std::size_t line = 0; line < bytes.size();) {
        if (equals_ignoring_case(bytes.substr(line, name.size()), name)) return true;
        const std::size_t end = bytes.find('\n', line);
        if (end == std::string_view::npos) return false;
        line = end + 1;
    }
    return false;
}

constexpr Rejection malformed_head{400, "bad_request",
                                   "the request head is malformed; write a request line, then "
                                   "headers, then an empty line, each with CR LF"};

// Whether the request line is well-formed except that it names a version we do not serve.
bool names_another_version(std::string_view bytes) {
    const std::string_view line = bytes.substr(0, bytes.find('\r'));
    const std::size_t first = line.find(' ');
    if (first == std::string_view::npos) return false;
    const std::size_t second = line.find(' ', first + 1);
    if (second == std::string_view::npos) return false;
    const std::string_view version = line.substr(second + 1);
    return version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
           version[6] == '.' && is_digit(version[7]);
}

Rejection rejection_of(const error_code& reason, std::string_view bytes) {
    using Error = beast::http::error;
    if (has_transfer_encoding(bytes)) {
        return Rejection{411, "length_required",
                         "Transfer-Encoding is taken alone, as \"chunked\""};
    }
    if (reason == Error::bad_version && names_another_version(bytes)) {
        return Rejection{505, "version_not_supported", "only HTTP/1.1 and 1.0 are served"};
    }
    if (reason == Error::bad_content_length || reason == Error::multiple_content_length) {
        return Rejection{400, "bad_content_length",
                         "Content-Length must be sent at most once, as 1 to 10 digits"};
    }
    if (reason == Error::bad_method || reason == Error::bad_target ||
        reason == Error::bad_version) {
        return Rejection{400, "bad_request",
                         "the request line is malformed; write METHOD /path HTTP/1.1"};
    }
    if (reason == Error::bad_field || reason == Error::bad_value) {
        return Rejection{400, "bad_request",
                         "a header is malformed; write Name: value, without a blank in the name "
                         "or before the colon, and without control characters"};
    }
    return malformed_head;
}

}  // namespace

std::optional<Rejection> parse_head(std::string_view bytes, Head& head) {
    head.bytes = bytes;
    head.headers.clear();
    HeadParser parser(head);
    error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (error) return rejection_of(error, bytes);
    if (used != bytes.size() || !parser.is_header_done()) {
        return malformed_head;
    }
    return std::nullopt;
}

}  // namespace sluice::http
