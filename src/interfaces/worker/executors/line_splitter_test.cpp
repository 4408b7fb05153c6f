#include "interfaces/worker/executors/line_splitter.hpp"

#include <gtest/gtest.h>

namespace sluice::worker {
namespace line_splitter_test {

using Pieces = std::vector<std::pair<std::string, bool>>;

// The pieces when the text comes in parts of this size.
Pieces split(const std::string& text, std::size_t part) {
    Pieces pieces;
    LineSplitter lines(
        [&](std::string_view piece, bool continues) { pieces.emplace_back(piece, continues); });
    for (std::size_t at = 0; at < text.size(); at += part) lines.add(text.substr(at, part));
    lines.finish();
    return pieces;
}

std::vector<std::string> lines_of(const std::string& text, std::size_t part) {
    std::vector<std::string> lines;
    for (const auto& [line, continues] : split(text, part)) {
        EXPECT_FALSE(continues);
        lines.push_back(line);
    }
    return lines;
}

TEST(LineSplitter, EndsLinesAtLineFeedsHoweverTheTextComes) {
    using Lines = std::vector<std::string>;
    for (const std::size_t part : {1u, 2u, 3u, 7u, 1000u}) {
        EXPECT_EQ(lines_of("", part), Lines{});
        EXPECT_EQ(lines_of("one\ntwo\n", part), (Lines{"one", "two"}));
        EXPECT_EQ(lines_of("one\n\nlast", part), (Lines{"one", "", "last"}));
        EXPECT_EQ(lines_of("dos\r\nold\r\r\n", part), (Lines{"dos", "old"}));
        EXPECT_EQ(lines_of("1%\r20%\r100%\ndone", part), (Lines{"100%", "done"}));
        EXPECT_EQ(lines_of("1%\r20%\r", part), (Lines{"20%"}));
    }
}

TEST(LineSplitter, PartsALongLineBetweenCharacters) {
    std::string line = "x";
    while (line.size() < 3 * LineSplitter::piece_bytes_max) line += "\u20ac";  // three bytes
    for (const std::size_t part : {1000u, 16'384u, 1'000'000u}) {
        std::string together;
        const Pieces pieces = split(line + "\nnext\n", part);
        ASSERT_EQ(pieces.size(), 5u);
        for (std::size_t i = 0; i < 4; ++i) {
            const auto& [piece, continues] = pieces[i];
            EXPECT_LE(piece.size(), LineSplitter::piece_bytes_max);
            EXPECT_EQ(continues, i < 3);
            EXPECT_EQ(piece.size() % 3, i == 0 ? 1u : 0u);
            together += piece;
        }
        EXPECT_EQ(together, line);
        EXPECT_EQ(pieces[4].first, "next");
    }
}

TEST(LineSplitter, KeepsNothingOfALineThatIsWrittenOverForEver) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "working " + std::to_string(i) + "\r";

    EXPECT_EQ(lines_of(text, 4096), std::vector<std::string>{"working 99999"});
}

}  // namespace line_splitter_test
}  // namespace sluice::worker
