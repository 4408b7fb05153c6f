#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "domain/values/result.hpp"
#include "json/reading.hpp"

namespace sluice {

struct JsonLimits {
    static constexpr std::size_t depth = 32;           // unless the reader is told otherwise
    static constexpr std::size_t depth_possible = 64;  // that a reader can be told
    static constexpr std::size_t keys = 10'000;        // of one object that is read by object()
    static constexpr std::size_t string_bytes = 256 * 1024;
    static constexpr std::size_t number_chars = 64;
};

// Reads one JSON text, front to back, as its caller asks for it:
//
//     JsonReader reader(body);
//     reader.object([&](std::string_view key) {
//         if (key == "type") type = reader.string();
//         else if (key == "priority") priority = reader.integer(0, 100);
//         else if (key == "payload") payload = reader.raw();
//         else reader.fail("is not a known field");
//     });
//     if (const auto done = reader.finish(); !done) return done.error();
//
// Strict: RFC 8259 and nothing else, valid UTF-8, numbers that are finite as a double, the limits
// above. The first problem is kept with a JSON pointer to its value. From then on every read
// returns at once, with an empty value, and no callback is called, so that a caller checks the
// outcome once, at the end. The text must outlive the reader and the results of raw().
class JsonReader {
  public:
    enum class Kind { object, array, string, number, boolean, null, none };

    // A reader of an engine's answer, which wraps other values, may allow a few levels more.
    explicit JsonReader(std::string_view text, std::size_t depth_max = JsonLimits::depth)
        : begin_(text.data()),
          end_(text.data() + text.size()),
          at_(begin_),
          depth_max_(std::min(depth_max, JsonLimits::depth_possible)) {}
    // The problems with the text as a whole are said of `subject`, such as "the body".
    JsonReader(std::string_view text, Reading reading, std::string_view subject = {})
        : JsonReader(text) {
        reading_ = reading;
        subject_ = subject;
    }
    JsonReader(const JsonReader&) = delete;
    JsonReader& operator=(const JsonReader&) = delete;

    // A tolerant reader ignores members that its caller does not know.
    bool is_tolerant() const { return reading_ == Reading::tolerant; }

    // The kind of the next value, by its first byte; `none` where no value can begin.
    Kind kind();

    // Calls `on_member(key)` for each member; it reads the member's value once, or leaves it alone
    // to skip it. The key is decoded, and stays valid as long as the reader. A key given twice is
    // refused.
    template <class OnMember>
    void object(OnMember&& on_member) {
        SeenKeys seen;
        Frame frame;
        if (!enter(frame)) return;
        while (next_member(seen)) on_member(std::string_view(frame.key));
    }

    // Calls `on_element(index)` for each element, which is read, or skipped, in the same way.
    template <class OnElement>
    void array(OnElement&& on_element) {
        Frame frame{.is_array = true};
        if (!enter(frame)) return;
        while (next_item()) on_element(frame.count - 1);
    }

    // Decoded. Refuses \u0000, which names and ids cannot hold in every store. Read tolerantly, a
    // number or boolean is its text.
    std::string string();

    // Refuses fractions, exponents, and numbers that are not between `low` and `high`. Read
    // tolerantly, it may stand in quotes, and 30.0 is whole.
    std::int64_t integer(std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                         std::int64_t high = std::numeric_limits<std::int64_t>::max());

    // Read tolerantly, also 1, 0, and any of them in quotes.
    bool boolean();

    // Whether the next value is null, which it then moves past. Anything else stays unread.
    bool null();

    // Any value, checked throughout, exactly as it stands in the text, without the space around it.
    // Keys may repeat in it.
    std::string_view raw();

    // Reports a problem with the value that is being read, or was read last in this callback.
    void fail(std::string what, ErrorCode code = ErrorCode::invalid);

    // Reports a problem with a member of the object that is being read, or was read last; for
    // missing members.
    void fail_at(std::string_view member, std::string what);

    // Reports a problem that another reader found inside the value that was read last.
    void fail_within(Error error);

    bool failed() const { return error_.has_value(); }

    // Checks that nothing follows. Gives the first problem, if there was one.
    Result<Done> finish();

  private:
    // The keys of one object so far. A sorted set, since the keys come from outside and could be
    // chosen to collide in a hash table.
    class SeenKeys {
      public:
        bool add(std::string_view key);  // false when it was there

      private:
        std::array<std::string_view, 16> few_;
        std::size_t count_ = 0;
        std::set<std::string_view> many_;
    };

    // An object or array that is being read. It lives on the stack of the call that reads it.
    struct Frame {
        bool is_array = false;
        std::string_view key{};       // of the current member; without data: there is none
        std::size_t count = 0;        // members or elements begun
        const char* value = nullptr;  // where the current one's value begins
        Frame* parent = nullptr;
    };

    struct StringSlice {
        std::string_view source{};  // between the quotes
        bool escaped = false;
        bool has_nul = false;
    };

    bool enter(Frame& frame);
    bool leave();  // always false
    bool next_item();
    bool next_member(SeenKeys& seen);
    bool read_key(SeenKeys& seen);
    bool is_expected(Kind wanted, const char* what);

    void skip_space();
    bool skip(char c);
    bool skip_value();
    bool skip_nested();
    bool skip_scalar();
    bool skip_key();
    bool skip_colon();
    bool skip_number();
    bool skip_literal(std::string_view literal);
    std::optional<StringSlice> read_string();
    std::string_view scalar_text();  // of the next value, without its quotes; escapes stay

    bool refuse(std::string what, ErrorCode code = ErrorCode::invalid);  // always false
    bool refuse_text(const char* what);  // the same, with the byte where the text is wrong
    bool refuse_depth();
    bool refuse_separator(bool is_array);
    std::string pointer() const;

    const char* begin_;
    const char* end_;
    const char* at_;  // the next byte to read; `end_` after a failure
    std::size_t depth_max_;
    Reading reading_ = Reading::strict;
    std::string_view subject_{};
    std::size_t depth_ = 0;
    Frame* top_ = nullptr;
    std::forward_list<std::string> decoded_keys_;  // those with escapes; a list never moves them
    std::optional<Error> error_;
};

}  // namespace sluice
