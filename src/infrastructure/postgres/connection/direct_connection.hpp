#pragma once

#include <memory>
#include <string>

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

// The URL past any pooler, for work that a pooler does not allow, and the URL of all other
// connections; often the same one.
struct Urls {
    std::string direct;
    std::string common;
    SchemaName schema{};
    std::int64_t node_mark = 0;  // see ConnectOptions
};

// Connects directly, or, where that is not possible, by the other URL. Throws as Connection does.
std::unique_ptr<Connection> connect_directly(const Urls& urls, const std::string& application_name,
                                             Millis answer_patience);

}  // namespace sluice::postgres
