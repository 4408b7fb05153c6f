#include "interfaces/cli/framework/api_path.hpp"

#include "domain/values/percent_encoding.hpp"

namespace sluice::cli {

std::string query_text(const std::vector<std::pair<std::string, std::string>>& params) {
    std::string text;
    for (const auto& [name, value] : params) {
        if (value.empty()) continue;
        text += (text.empty() ? "?" : "&") + name + "=" + percent_encoded(value);
    }
    return text;
}

}  // namespace sluice::cli
