#include "application/sites/sites_contract.hpp"

#include <fmt/format.h>

#include "application/entities/entity_requests.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

namespace sluice::sites {
namespace {

constexpr std::string_view node_kind = "node";

// Ansible evaluates such texts of an inventory, and could run commands by that.
bool is_template(std::string_view text) {
    return text.find("{{") != std::string_view::npos || text.find("{%") != std::string_view::npos ||
           text.find("{#") != std::string_view::npos;
}

std::optional<Error> check_node(const Attributes& attributes) {
    for (const char* name : {"hostname", "user", "key_file", "connection"}) {
        const auto text = text_of(attributes, name);
        if (attributes.contains(name) && (!text || text->empty() || text->size() > 4096)) {
            return refuse(fmt::format("attributes/{}", name), "must be a text that is not empty");
        }
        if (text && is_template(*text)) {
            return refuse(fmt::format("attributes/{}", name),
                          "must not have {{, {% or {#: Ansible would evaluate them");
        }
    }
    if (!attributes.contains("hostname")) {
        return refuse("attributes/hostname",
                      "is required: the name or address by which the node is reached");
    }
    const auto port = integer_of(attributes, "port");
    if (attributes.contains("port") && (!port || *port < 1 || *port > 65535)) {
        return refuse("attributes/port", "must be a whole number between 1 and 65535");
    }
    return std::nullopt;
}

std::optional<Error> check_attributes(const EntityKey& key, const Attributes& attributes) {
    return key.kind == node_kind ? check_node(attributes) : std::nullopt;
}

std::optional<Error> refuse_change(EntityChanges& /*changes*/, const EntityKey& key,
                                   const std::string& /*parent*/) {
    return key.kind == node_kind ? std::optional(only_admins_change(key)) : std::nullopt;
}

}  // namespace

ContractRules contract_rules() {
    return {
        .declare = declare, .refuse_change = refuse_change, .check_attributes = check_attributes};
}

}  // namespace sluice::sites
