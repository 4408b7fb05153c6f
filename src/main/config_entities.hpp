#pragma once

#include "main/config_section.hpp"

namespace sluice {

// Kinds of entities, from TOML. One that is built in keeps its states; what the file says about
// jobs is added to it.
void read_entity_kinds(Section table, EntityKinds& out);

}  // namespace sluice
