#include "application/toolkit/error_detail.hpp"

#include "domain/values/json_text.hpp"

namespace sluice {
namespace {

void add_member(std::string& out, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (out.size() > 1) out += ',';
    append_json_string(out, name);
    out += ':';
    append_json_string(out, value);
}

}  // namespace

std::string error_detail(std::string_view code, std::string_view message, std::string_view extra) {
    std::string out = "{";
    out += extra;
    add_member(out, "error_code", code);
    add_member(out, "error_message", message);
    out += '}';
    return out.size() == 2 ? std::string() : out;
}

std::string reason_detail(std::string_view reason) {
    std::string out = "{";
    add_member(out, "reason", reason);
    out += '}';
    return out.size() == 2 ? std::string() : out;
}

}  // namespace sluice
