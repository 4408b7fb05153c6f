#include "interfaces/http/message/chunked_body.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace sluice::http {
namespace chunked_body_test {

// The outcome of decoding a body: how many of its bytes were used, or why it was refused.
struct Result {
    bool is_complete = false;
    int status = 0;  // 0: not refused
    std::string_view code{};
    std::string body{};
    std::size_t used = 0;

    bool operator==(const Result&) const = default;
};

// Gives the bytes to the decoder in pieces that end at these positions, as a connection does: each
// piece behind what has been kept of those before.
Result decode(std::string_view bytes, std::vector<std::size_t> ends = {}, std::size_t max = 1000) {
    ends.push_back(bytes.size());
    ChunkedBody chunks(max);
    Result result;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        std::string piece(bytes.substr(begin, end - begin));
        const std::size_t had = chunks.body_bytes();
        const auto outcome = chunks.take(piece);
        result.body += piece.substr(0, chunks.body_bytes() - had);
        if (const auto* rejection = std::get_if<Rejection>(&outcome)) {
            result.status = rejection->status;
            result.code = rejection->code;
            result.body.clear();  // as far as it came, which depends on the pieces
            return result;
        }
        if (const auto* complete = std::get_if<ChunkedBody::Complete>(&outcome)) {
            result.is_complete = true;
            result.used = begin + complete->used;
            return result;
        }
        begin = end;
    }
    return result;
}

int judge(std::string_view bytes, std::size_t max = 1000) {
    const Result result = decode(bytes, {}, max);
    return result.is_complete ? 200 : result.status;
}

TEST(ChunkedBody, PutsTheChunksTogetherAndLeavesWhatFollows) {
    const std::string_view bytes = "5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\nGET /";

    const Result result = decode(bytes);

    EXPECT_TRUE(result.is_complete);
    EXPECT_EQ(result.body, "hello, world");
    EXPECT_EQ(bytes.substr(result.used), "GET /");
}

TEST(ChunkedBody, MayBeEmptyAndMayHoldLineEndsAndZeroBytes) {
    EXPECT_EQ(decode("0\r\n\r\n").body, "");
    EXPECT_EQ(judge("0\r\n\r\n"), 200);
    const std::string data("\r\n0\r\n\r\n\0\xff", 9);
    EXPECT_EQ(decode("9\r\n" + data + "\r\n0\r\n\r\n").body, data);
}

TEST(ChunkedBody, TakesSizesOfOneToEightHexDigits) {
    EXPECT_EQ(decode("A\r\n0123456789\r\n0\r\n\r\n").body, "0123456789");
    EXPECT_EQ(decode("a\r\n0123456789\r\n0\r\n\r\n").body, "0123456789");
    EXPECT_EQ(judge("0000000a\r\n0123456789\r\n00000000\r\n\r\n"), 200);
    EXPECT_EQ(judge("00000000a\r\n0123456789\r\n0\r\n\r\n"), 400);
    for (const char* line : {"", " 1", "1 ", "\t1", "+1", "-1", "0x1", "1h", "g", "1.0", "1,1",
                             "ffffffffffffffff1", "\"1\"", "1\t", "1 ;a",
                             "\xef\xbb\xbf"
                             "1"}) {
        EXPECT_EQ(judge(std::string(line) + "\r\nx\r\n0\r\n\r\n"), 400) << line;
    }
}

TEST(ChunkedBody, WantsCrLfAndNothingElse) {
    for (const char* bytes :
         {"1\nx\r\n0\r\n\r\n", "1\r\nx\n0\r\n\r\n", "1\r\nx\r\n0\n\r\n", "1\r\nx\r\n0\r\n\n",
          "1\rx\r\n0\r\n\r\n", "1\r\nx\r0\r\n\r\n", "1\r\nx0\r\n\r\n", "1\r\nxy\r\n0\r\n\r\n",
          "1\r\r\nx\r\n0\r\n\r\n", "1\r\nx\r\r\n0\r\n\r\n", "1\r\n\nx\r\n0\r\n\r\n",
          "1\r\nx\r\n\r\n0\r\n\r\n", "\r\n1\r\nx\r\n0\r\n\r\n", "1\r\nx\r\n0\r\n\rx",
          "1\n\rx\r\n0\r\n\r\n", "0\r\r\n\r\n", "0\n\n", "0\r\n \r\n"}) {
        EXPECT_EQ(judge(bytes), 400) << bytes;
    }
}

TEST(ChunkedBody, DropsExtensionsThatAreWellFormed) {
    for (const char* extensions : {";a", ";a=b", ";a=\"b\"", ";a=\"\"", ";a=\"b c;d=e\"",
                                   ";a=\"\\\"\"", ";a;b=c;d", ";ieof", ";a=\"\\\\\";b"}) {
        const std::string bytes =
            "1" + std::string(extensions) + "\r\nx\r\n0" + extensions + "\r\n\r\n";
        EXPECT_EQ(decode(bytes).body, "x") << extensions;
        EXPECT_EQ(judge(bytes), 200) << extensions;
    }
}

TEST(ChunkedBody, RefusesExtensionsThatReadersEndInDifferentPlaces) {
    for (const char* extensions :
         {";",         ";;",          ";a=",    ";=b",    "; a",         ";a =b",
          ";a= b",     ";a\t",        ";a=\"",  ";a=\"b", ";a=\"b\"c",   ";a=\"\r\n\"",
          ";a=\"\n\"", ";a=\"\\\n\"", ";a\n",   ";\n",    ";a=b\"",      ";a=\"\x7f\"",
          ";a=\"\t\"", ";a=\xff",     ";a=(b)", ";a,b",   ";a=\"\x01\"", ";a=b=c"}) {
        EXPECT_EQ(judge("1" + std::string(extensions) + "\r\nx\r\n0\r\n\r\n"), 400) << extensions;
    }
    EXPECT_EQ(judge(std::string("1;a\0b\r\nx\r\n0\r\n\r\n", 15)), 400);
}

TEST(ChunkedBody, RefusesTrailers) {
    EXPECT_EQ(judge("0\r\nX: y\r\n\r\n"), 400);
    EXPECT_EQ(judge("0\r\nContent-Length: 5\r\n\r\n"), 400);
    EXPECT_EQ(judge("0\r\n0\r\n\r\n"), 400);
}

TEST(ChunkedBody, LimitsTheBodyAsSoonAsAChunkIsAnnounced) {
    EXPECT_EQ(judge("5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n", 10), 200);
    EXPECT_EQ(judge("5\r\nhello\r\n6\r\n", 10), 413);
    EXPECT_EQ(judge("b\r\n", 10), 413);
    EXPECT_EQ(judge("ffffffff\r\n", 10), 413);
    EXPECT_EQ(judge("5\r\nhello\r\n5\r\nhello\r\n1\r\n", 10), 413);
    EXPECT_EQ(judge("1\r\n", 0), 413);
}

TEST(ChunkedBody, LimitsTheLineBeforeAChunk) {
    const auto with = [](std::size_t line) {
        return "1;" + std::string(line - 2, 'a') + "\r\nx\r\n0\r\n\r\n";
    };
    EXPECT_EQ(judge(with(ChunkedBody::line_bytes_max)), 200);
    EXPECT_EQ(judge(with(ChunkedBody::line_bytes_max + 1)), 400);
    EXPECT_EQ(judge("1;" + std::string(ChunkedBody::line_bytes_max, 'a')), 400) << "its end";
}

TEST(ChunkedBody, LimitsTheNumberOfChunks) {
    std::string bytes;
    for (std::size_t i = 0; i < ChunkedBody::chunks_max; ++i) bytes += "1\r\nx\r\n";
    EXPECT_EQ(judge(bytes + "0\r\n\r\n", 1'000'000), 200);
    EXPECT_EQ(judge(bytes + "1\r\nx\r\n0\r\n\r\n", 1'000'000), 400);
}

// A random body: mostly valid, sometimes with one byte wrong.
std::string random_body(std::minstd_rand& random) {
    const auto up_to = [&](int most) {
        return std::uniform_int_distribution<int>(0, most)(random);
    };
    std::string bytes;
    for (int left = up_to(4); left > 0; --left) {
        const std::string data(static_cast<std::size_t>(up_to(20) + 1), "\r\n0;x"[up_to(4)]);
        constexpr std::string_view digits = "0123456789abcdef";
        if (data.size() >= 16) bytes += digits[data.size() / 16];
        bytes += digits[data.size() % 16];
        if (up_to(3) == 0) bytes += ";a=\"b\\\"\"";
        bytes += "\r\n" + data + "\r\n";
    }
    bytes += "0\r\n\r\nGET / HTTP/1.1";
    if (up_to(2) == 0) {
        bytes[static_cast<std::size_t>(up_to(static_cast<int>(bytes.size()) - 1))] =
            "\r\n0a; \"x"[up_to(7)];
    }
    return bytes;
}

TEST(ChunkedBody, IsReadAlikeInWhateverPiecesItArrives) {
    std::minstd_rand random(7);
    int complete = 0;
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        const std::string bytes = random_body(random);
        const Result whole = decode(bytes);
        complete += whole.is_complete;
        refused += whole.status != 0;

        std::vector<std::size_t> each;
        std::vector<std::size_t> some;
        for (std::size_t end = 1; end < bytes.size(); ++end) {
            each.push_back(end);
            if (random() % 5 == 0) some.push_back(end);
        }
        EXPECT_EQ(decode(bytes, each), whole) << bytes;
        EXPECT_EQ(decode(bytes, some), whole) << bytes;
    }
    EXPECT_GT(complete, 1000);
    EXPECT_GT(refused, 100);
}

}  // namespace chunked_body_test
}  // namespace sluice::http
