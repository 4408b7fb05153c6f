// Where jobs of control planes take place: sites, environments and nodes.
#include "interfaces/http/native/entities.hpp"
#include "interfaces/http/native/handlers.hpp"

namespace sluice::http::native {

void list_sites(Call call) {
    list_of_kind(std::move(call), "site", "sites");
}
void create_site(Call call) {
    create_of_kind(std::move(call), "site");
}
void get_site(Call call) {
    const std::string_view id = call.id;
    get_of_kind(std::move(call), "site", id);
}
void reset_site(Call call) {
    reset_of_kind(std::move(call), "site");
}

void list_environments(Call call) {
    list_of_kind(std::move(call), "environment", "environments");
}
void create_environment(Call call) {
    create_of_kind(std::move(call), "environment");
}
void get_environment(Call call) {
    const std::string_view id = call.id;
    get_of_kind(std::move(call), "environment", id);
}
void reset_environment(Call call) {
    reset_of_kind(std::move(call), "environment");
}

void list_nodes(Call call) {
    list_of_kind(std::move(call), "node", "nodes");
}
void create_node(Call call) {
    create_of_kind(std::move(call), "node");
}
void get_node(Call call) {
    const std::string_view id = call.id;
    get_of_kind(std::move(call), "node", id);
}

}  // namespace sluice::http::native
