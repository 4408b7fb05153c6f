#include "interfaces/http/caller.hpp"

#include <algorithm>

#include "application/names.hpp"
#include "domain/utf8.hpp"

namespace sluice::http {

Caller caller_of(const Call& call) {
    Caller caller;
    const std::string_view* name = call.request.header("X-Sluice-User");
    if (name) caller.name = *name;
    const auto& admins = call.app.admins;
    caller.is_admin = !name || std::find(admins.begin(), admins.end(), caller.name) != admins.end();
    return caller;
}

bool names_its_caller_well(const Request& request) {
    const std::string_view* name = request.header("X-Sluice-User");
    return !name || (!name->empty() && is_utf8(*name) && !check_name("", *name));
}

}  // namespace sluice::http
