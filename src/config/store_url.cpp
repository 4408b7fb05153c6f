#include "config/store_url.hpp"

#include "interfaces/worker/executors/url_text.hpp"

namespace sluice {

bool is_postgres(std::string_view url) {
    return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

std::string shown_store(std::string_view url) {
    return url.starts_with(sqlite_scheme) ? std::string(url) : worker::shown_url(url);
}

}  // namespace sluice
