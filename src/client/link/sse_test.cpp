#include "client/link/sse.hpp"

#include <gtest/gtest.h>

#include "sluice/error.hpp"

namespace sluice::client {
namespace sse_test {

// The events that were read, as "id|type|data;" each.
std::string read_in_pieces(std::string_view text, std::size_t first, std::size_t second) {
    std::string seen;
    const auto note = [&](const SseEvent& event) {
        seen += event.id + "|" + event.type + "|" + event.data + ";";
        return true;
    };
    SseReader reader;
    reader.feed(text.substr(0, first), note);
    reader.feed(text.substr(first, second - first), note);
    reader.feed(text.substr(second), note);
    return seen;
}

void expect_events(std::string_view text, const std::string& expected) {
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = first; second <= text.size(); ++second) {
            ASSERT_EQ(read_in_pieces(text, first, second), expected) << first << " " << second;
        }
    }
}

TEST(SseReader, ReadsAStreamCutAnywhere) {
    expect_events(
        "retry: 2000\n\nid: 1\nevent: status\ndata: {\"a\":1}\n\n: ping\n\n"
        "id: 2\nevent: log\ndata: x: y\n\n",
        "1|status|{\"a\":1};2|log|x: y;");
}

TEST(SseReader, TakesEveryKindOfLineEnd) {
    expect_events("id: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\rdata: c\n\n",
                  "1|message|a;2|message|b;2|message|c;");
}

TEST(SseReader, JoinsLinesOfData) {
    expect_events("data: a\ndata:\ndata:  b\ndata\n\n", "|message|a\n\n b\n;");
}

TEST(SseReader, DropsCommentsUnknownFieldsAndEventsWithoutData) {
    expect_events(":\n: x\nfoo: bar\nevent: status\nid: 7\n\ndata: a\n\n", "7|message|a;");
}

TEST(SseReader, SkipsAByteOrderMark) {
    expect_events(
        "\xEF\xBB\xBF"
        "data: a\n\n",
        "|message|a;");
}

TEST(SseReader, DoesNotTellAnEventThatIsNotFinished) {
    expect_events("data: a\n\ndata: b\n", "|message|a;");
}

TEST(SseReader, IgnoresAnIdWithNul) {
    expect_events(std::string_view("id: 1\nid: 2\0003\ndata: a\n\n", 23), "1|message|a;");
}

TEST(SseReader, KnowsWhenToComeBack) {
    SseReader reader;
    const auto ignore = [](const SseEvent&) { return true; };

    EXPECT_EQ(reader.retry_ms(), std::nullopt);
    reader.feed("retry: 2000\n", ignore);
    reader.feed("retry: -1\nretry: 1s\nretry:\nretry: 99999999999999999999\n", ignore);
    EXPECT_EQ(reader.retry_ms(), 2000);
}

TEST(SseReader, StopsWhenTold) {
    SseReader reader;
    int count = 0;

    EXPECT_FALSE(reader.feed("data: a\n\ndata: b\n\n", [&](const SseEvent&) {
        ++count;
        return false;
    }));
    EXPECT_EQ(count, 1);
}

TEST(SseReader, RefusesAnEventWithoutEnd) {
    SseReader reader;
    const std::string piece(1024 * 1024, 'x');
    const auto ignore = [](const SseEvent&) { return true; };
    const auto feed_much = [&] {
        for (int i = 0; i < 5; ++i) reader.feed(piece, ignore);
    };

    EXPECT_THROW(feed_much(), Error);
}

}  // namespace sse_test
}  // namespace sluice::client
