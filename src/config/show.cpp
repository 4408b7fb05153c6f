#include "config/show.hpp"

#include "config/settings.hpp"

namespace sluice {
namespace {

Listing listing_of(const Config& config, bool all) {
    Listing out(config.origins);
    show_rows(out, "", setting_rows(), config);
    show_governance(out, config.governance);
    show_nodes(out, config.nodes);
    show_job_types(out, config, all);
    show_entity_kinds(out, config, all);
    return out;
}

}  // namespace

std::vector<Setting> settings_of(const Config& config, bool all) {
    return listing_of(config, all).take();
}

std::vector<std::string> secrets_of(const Config& config) {
    std::vector<std::string> secrets = listing_of(config, false).take_secrets();
    // The variable that the database's library reads by itself.
    for (auto& [name, value] : worker::variables_named({"PGPASSWORD"})) {
        secrets.push_back(std::move(value));
    }
    return secrets;
}

}  // namespace sluice
