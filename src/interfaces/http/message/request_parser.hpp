#pragma once

#include <optional>
#include <string_view>

#include "interfaces/http/message/framing_gate.hpp"

namespace sluice::http {

// Reads a whole head, from the request line to the empty line, that HeadScanner has accepted.
// Fills `head`, whose views point into `bytes`. Only the grammar is judged here; the gate follows.
std::optional<Rejection> parse_head(std::string_view bytes, Head& head);

}  // namespace sluice::http
