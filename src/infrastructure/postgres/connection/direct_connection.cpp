#include "infrastructure/postgres/connection/direct_connection.hpp"

#include <stdexcept>

namespace sluice::postgres {

std::unique_ptr<Connection> connect_directly(const Urls& urls, const std::string& application_name,
                                             Millis answer_patience) {
    ConnectOptions options{.url = urls.direct,
                           .schema = urls.schema,
                           .application_name = application_name,
                           .answer_patience = answer_patience,
                           .node_mark = urls.node_mark};
    if (urls.direct == urls.common) return std::make_unique<Connection>(options);
    try {
        return std::make_unique<Connection>(options);
    } catch (const std::runtime_error&) {
        options.url = urls.common;
        return std::make_unique<Connection>(options);
    }
}

}  // namespace sluice::postgres
