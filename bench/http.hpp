// As much of HTTP as a benchmark needs: texts of requests, and where an answer ends.
#pragma once

#include <charconv>
#include <cstdlib>
#include <optional>

#include "bench/connection.hpp"

namespace sluice::bench {

// The header that shows the token in SLUICE_TOKEN, with its line end; empty without one.
inline const std::string& token_header() {
    static const std::string header = [] {
        const char* const token = std::getenv("SLUICE_TOKEN");
        return token ? std::string("Authorization: Bearer ") + token + "\r\n" : std::string();
    }();
    return header;
}

inline void append_post(std::string& out, std::string_view path, std::size_t body_bytes) {
    std::array<char, 20> digits{};
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), body_bytes).ptr;
    out += "POST ";
    out += path;
    out += " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ";
    out.append(digits.data(), end);
    out += "\r\n";
    out += token_header();
    out += "\r\n";
}

inline std::string post_text(std::string_view path, std::string_view body) {
    std::string out;
    append_post(out, path, body.size());
    out += body;
    return out;
}

struct Answer {
    int status = 0;
    std::string_view body{};
    std::size_t bytes = 0;  // of the whole answer: consume them when done with it
};

// Finds one whole answer at the front of the received bytes. Remembers where the body is, so that a
// long one is not searched again each time a piece of it arrives.
class AnswerReader {
  public:
    std::optional<Answer> take(Connection& connection) {
        const std::string_view input = connection.input();
        if (head_bytes_ == 0 && !read_head(input)) return std::nullopt;
        const std::size_t bytes = head_bytes_ + body_bytes_;
        if (input.size() < bytes) {
            connection.expect(bytes);
            return std::nullopt;
        }
        const Answer answer{status_, input.substr(head_bytes_, body_bytes_), bytes};
        head_bytes_ = 0;
        return answer;
    }

  private:
    bool read_head(std::string_view input) {
        static constexpr std::string_view length_name = "\r\nContent-Length: ";
        const std::size_t end = input.find("\r\n\r\n");
        if (end == std::string_view::npos) return false;
        const std::string_view head = input.substr(0, end);
        const std::size_t length = head.find(length_name);
        if (!head.starts_with("HTTP/1.1 ") || length == std::string_view::npos) {
            die("an answer that this client does not read:\n" + std::string(head));
        }
        std::from_chars(head.data() + 9, head.data() + head.size(), status_);
        std::from_chars(head.data() + length + length_name.size(), head.data() + head.size(),
                        body_bytes_);
        head_bytes_ = end + 4;
        return true;
    }

    int status_ = 0;
    std::size_t head_bytes_ = 0;  // zero: the head has not come yet
    std::size_t body_bytes_ = 0;
};

// An answer that is not a success ends the run.
inline void demand_success(const Answer& answer) {
    if (answer.status >= 200 && answer.status < 300) return;
    die("the server answered " + std::to_string(answer.status) + ": " +
        std::string(answer.body.substr(0, 500)));
}

// Sends one request and waits for its answer.
inline std::string exchange(int port, std::string_view request) {
    Poller poller;
    Connection connection(poller, 0, port);
    AnswerReader reader;
    connection.send(request);
    for (;;) {
        poller.wait(-1, [&](std::uint32_t, std::uint32_t events) { connection.progress(events); });
        if (const auto answer = reader.take(connection)) {
            demand_success(*answer);
            return std::string(answer->body);
        }
    }
}

}  // namespace sluice::bench
