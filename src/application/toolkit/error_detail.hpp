#pragma once

#include <string>
#include <string_view>

namespace sluice {

// The detail of an event about an error: {"error_code":…,"error_message":…}, without empty members.
// `extra` is a list of further members, such as "run_after":"…", that come first.
std::string error_detail(std::string_view code, std::string_view message,
                         std::string_view extra = {});

// {"reason":…}, or nothing when there is no reason.
std::string reason_detail(std::string_view reason);

}  // namespace sluice
