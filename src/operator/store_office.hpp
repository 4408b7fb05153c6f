#pragma once

#include <memory>

#include "interfaces/cli/framework/token_office.hpp"

namespace sluice {

// Access tokens of a store on this machine, without an engine: any user who may open the store may
// make them. A PostgreSQL database may be in use by engines; a SQLite file may only be read then.
std::unique_ptr<cli::TokenOffice> open_store_office(const cli::StoreChoice& choice);

}  // namespace sluice
