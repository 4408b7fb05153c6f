#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

// C++ files as tidy_test.cpp reads them.
namespace sluice::tidy {

struct Line {
    std::string text;      // as it stands
    std::string code;      // without comments and without the text of literals
    std::string literals;  // the text of string literals
    std::string comments;
};

struct SourceFile {
    std::string path;  // from the root, e.g. src/domain/jobs/job.cpp
    std::vector<Line> lines;

    bool is_in(std::string_view folder) const { return path.starts_with(folder); }
    bool is_header() const { return path.ends_with(".hpp"); }
    bool is_test() const { return path.ends_with("_test.cpp"); }
};

using Findings = std::vector<std::string>;  // each as editors read it: path:line: what

inline void report(Findings& out, const SourceFile& file, std::size_t line,
                   const std::string& what) {
    out.push_back(file.path + ":" + std::to_string(line) + ": " + what);
}

// The name in an #include, with its bracket or quote in front, or nothing.
inline std::string included(const Line& line) {
    if (!line.code.starts_with("#include")) return {};
    const std::size_t open = line.text.find_first_of("<\"");
    if (open == std::string::npos) return {};
    return line.text.substr(open, line.text.find_first_of(">\"", open + 1) - open);
}

inline bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Parts code, literals and comments of a C++ text, line by line.
class Splitter {
  public:
    explicit Splitter(std::string text) : text_(std::move(text)) {}

    std::vector<Line> split() {
        while (at_ < text_.size()) {
            if (starts("//")) {
                take_until("\n", &Line::comments);
            } else if (starts("/*")) {
                take_until("*/", &Line::comments);
            } else if (starts("R\"") && (at_ == 0 || !is_word(text_[at_ - 1]))) {
                const std::size_t open = text_.find('(', at_);
                const std::string name = text_.substr(at_ + 2, open - at_ - 2);
                take_until(")" + name + "\"", &Line::literals);
            } else if (starts("\"")) {
                take_quoted('"', &Line::literals);
            } else if (starts("'") && (at_ == 0 || !is_word(text_[at_ - 1]))) {
                take_quoted('\'', nullptr);  // and not the one in 1'000
            } else {
                take(&Line::code);
            }
        }
        if (!lines_.back().text.empty()) lines_.emplace_back();
        lines_.pop_back();
        return std::move(lines_);
    }

  private:
    using Part = std::string Line::*;

    bool starts(std::string_view with) const { return text_.compare(at_, with.size(), with) == 0; }

    void take(Part part) {
        const char c = text_[at_++];
        if (c == '\n') {
            lines_.emplace_back();
            return;
        }
        lines_.back().text.push_back(c);
        if (part != nullptr) (lines_.back().*part).push_back(c);
    }

    void take_up_to(std::size_t stop, Part part) {
        while (at_ < std::min(stop, text_.size())) take(part);
    }

    void take_until(const std::string& end, Part part) {
        take_up_to(text_.find(end, at_ + 1), part);
        if (end != "\n") take_up_to(at_ + end.size(), nullptr);
    }

    void take_quoted(char quote, Part part) {
        take(nullptr);
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            if (text_[at_] == '\\') take(part);
            if (at_ < text_.size()) take(part);
        }
        take_up_to(at_ + 1, nullptr);
    }

    std::string text_;
    std::size_t at_ = 0;
    std::vector<Line> lines_{1};
};

}  // namespace sluice::tidy
