#pragma once

#include <string>
#include <string_view>

namespace sluice::postgres {

// PostgreSQL's text holds every character but NUL, which texts of jobs may have. NUL is replaced by
// an escape, and the escape character is escaped, too. Other texts are kept as they are; equal
// texts stay equal, and different ones different.
void append_encoded(std::string& out, std::string_view text);
std::string decode(std::string_view kept);

}  // namespace sluice::postgres
