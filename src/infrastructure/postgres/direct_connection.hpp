#pragma once

#include <memory>
#include <string>

#include "infrastructure/postgres/connection.hpp"

namespace sluice::postgres {

// The way to the server for what a pooler cannot do, and the way that everybody takes; often the
// same one.
struct Urls {
    std::string direct;
    std::string common;
    SchemaName schema{};
    std::int64_t node_mark = 0;  // see ConnectOptions
};

// Connects directly, or, when that way is closed, as everybody does. Throws as Connection does.
std::unique_ptr<Connection> connect_directly(const Urls& urls, const std::string& application_name,
                                             Millis answer_patience);

}  // namespace sluice::postgres
