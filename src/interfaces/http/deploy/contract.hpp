#pragma once

#include "interfaces/http/toolkit/route.hpp"

// Seed 004: the deploy control plane and its runners, with the paths of runtime nodes and of
// admins.
namespace sluice::http::deploy {

const Contract& contract();
const Contract& node_contract();
const Contract& admin_contract();

}  // namespace sluice::http::deploy
