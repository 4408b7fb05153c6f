#pragma once

namespace sluice {

// How closely a JSON text must match the types that its reader expects. The grammar, the limits and
// the refusal of a name that is given twice are the same in both.
enum class Reading {
    strict,    // values of exactly the expected kind, members that are known
    tolerant,  // "30" and 30.0 for 30, 1 and "true" for true, 30 for "30"; unknown members ignored
};

}  // namespace sluice
