#include "e2e/bad_requests.hpp"
#include "e2e/http_client.hpp"

namespace sluice::e2e {
namespace {

using Cases = std::vector<BadRequest>;

void add(Cases& cases, const std::string& name, const std::string& body, int status = 400,
         const std::string& code = "malformed") {
    const std::string shown = name.empty() ? body.substr(0, 60) : name;
    cases.push_back({"body " + shown, request_text("POST", "/api/v1/jobs", body), status, code});
}

std::string repeated(std::string_view part, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
}

void add_syntax(Cases& cases) {
    for (const char* body : {"{",
                             "}",
                             "{]",
                             "{\"type\"}",
                             "{\"type\":}",
                             "{\"type\":\"t\",}",
                             "{,}",
                             "{:1}",
                             "{\"type\":\"t\"}}",
                             "{\"type\":\"t\"} x",
                             "{\"type\":\"t\"}{}",
                             "{'type':'t'}",
                             "{type:\"t\"}",
                             "{\"type\":\"t\"/*c*/}",
                             "//c\n{\"type\":\"t\"}",
                             "{\"type\" \"t\"}",
                             "{\"type\":\"t\";}",
                             "{\"type\":\"t\" \"a\":1}",
                             "{\"type\":\"t}",
                             "TRUE",
                             "undefined",
                             "NaN",
                             "{1:2}",
                             "{null:1}",
                             "{\"type\":\"t\"\f}",
                             "<xml/>",
                             "{\"type\":\"t\"},",
                             " ",
                             "\n"}) {
        add(cases, "", body);
    }
    // The first mistake is the type of the value; the text after it is not read.
    for (const char* body : {"[]", "null", "1", "\"text\"", "true", "[{\"type\":\"t\"}]", "[",
                             "nul", "tru", "-", "type=t", "{\"type\":t}"}) {
        add(cases, "", body, 422, "invalid");
    }
}

void add_values(Cases& cases) {
    for (const char* value : {"01",
                              "1.",
                              ".5",
                              "1e",
                              "1e+",
                              "+1",
                              "--1",
                              "0x10",
                              "1_000",
                              "Infinity",
                              "-Infinity",
                              "NaN",
                              "True",
                              "nulll",
                              "[1,]",
                              "[,1]",
                              "[1 2]",
                              "[1",
                              "{\"a\":1,}",
                              "\"\t\"",
                              "\"a\nb\"",
                              "\"\\x41\"",
                              "\"\\u12\"",
                              "\"\\u12G4\"",
                              "\"\\ud800\"",
                              "\"\\udc00\"",
                              "\"\\ud800x\"",
                              "\"\\ud800\\u0041\"",
                              "\"\\ud800\\ud800\"",
                              "\"\\\"",
                              "'a'",
                              "1 2",
                              "(1)",
                              "-",
                              "\x7f"}) {
        add(cases, "", std::string(R"({"type":"t","payload":)") + value + "}");
    }
    for (const char* value : {"1e400", "-1e400", "1e99999", "[[1e309]]", "123e4567"}) {
        add(cases, "", std::string(R"({"type":"t","payload":)") + value + "}", 422, "invalid");
    }
    add(cases, "65 digits", R"({"type":"t","payload":)" + std::string(65, '1') + "}", 413,
        "too_large");
    add(cases, "many digits", R"({"type":"t","payload":)" + std::string(900'000, '1') + "}", 413,
        "too_large");
}

void add_bytes(Cases& cases) {
    for (const std::string& bytes :
         {std::string("\xc0\x80"), std::string("\xed\xa0\x80"), std::string("\xf5\x80\x80\x80"),
          std::string("\xff"), std::string("\xe2\x82"), std::string("\xc3"), std::string("\x80"),
          std::string("\xf4\x90\x80\x80"), std::string("\0", 1), std::string("\x1f"),
          std::string("\xe0\x80\x80"), std::string("\xfe\xff")}) {
        add(cases, "bytes in type", R"({"type":"t)" + bytes + "\"}");
        add(cases, "bytes in payload", R"({"type":"t","payload":")" + bytes + "\"}");
        add(cases, "bytes in a key", R"({"type":"t","a)" + bytes + "\":1}");
    }
    add(cases, "BOM", "\xef\xbb\xbf{\"type\":\"t\"}");
    add(cases, "UTF-16", std::string("{\0\"\0t\0}\0", 8));
    add(cases, "UTF-16 with BOM", std::string("\xff\xfe{\0}\0", 6));
    add(cases, "NUL after", std::string("{\"type\":\"t\"}\0", 13));
    for (const char* body :
         {R"({"type":"a\u0000b"})", R"({"type":"t","a\u0000":1})", R"({"type":"t","type":"u"})",
          R"({"type":"t","t\u0079pe":"u"})", R"({"type":"t","payload":1,"payload":1})",
          R"({"type":"t","x":1,"x":2})"}) {
        add(cases, "", body, 422, "invalid");
    }
}

void add_sizes(Cases& cases) {
    add(cases, "deep arrays", R"({"type":"t","payload":)" + std::string(100'000, '['));
    add(cases, "deep objects", R"({"type":"t","payload":)" + repeated(R"({"a":)", 100'000));
    add(cases, "deep body", std::string(1'000'000, '['), 422, "invalid");
    add(cases, "deep bodies", repeated(R"({"a":)", 200'000));
    add(cases, "33 levels",
        R"({"type":"t","payload":)" + std::string(32, '[') + std::string(32, ']') + "}");
    add(cases, "long string", R"({"type":"t","payload":")" + std::string(300'000, 'x') + "\"}", 413,
        "too_large");
    add(cases, "long key", "{\"" + std::string(300'000, 'k') + "\":1}", 413, "too_large");
    add(cases, "long payload", R"({"type":"t","payload":[)" + repeated("1,", 200'000) + "1]}", 413,
        "too_large");
    std::string keys = "{";
    for (int i = 0; i < 60'000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
    add(cases, "many keys", keys + "\"type\":\"t\"}", 413, "too_large");
}

}  // namespace

std::vector<BadRequest> bad_json() {
    Cases cases;
    for (const auto part : {add_syntax, add_values, add_bytes, add_sizes}) part(cases);
    return cases;
}

}  // namespace sluice::e2e
