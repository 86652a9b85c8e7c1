// Describes one type of debug information (DWARF 2 to 5) as a types::Type.
#pragma once

#include "record/collector/types.hpp"

namespace linebounce::record {

// `die`: without typedefs and qualifiers, and no declaration. `alias`: the name that a typedef gives it; empty: none. Types of
// members are read through `types`. Sizes that only the running program knows are 0.
TypePtr described_type(Dwarf_Die& die, const std::string& alias, Types& types);

// The entry of a structure's member of this name, also within members without names and base classes. Returns false if it has
// none.
bool find_member(Dwarf_Die& structure, const std::string& name, Dwarf_Die& found, int depth = 0);

}  // namespace linebounce::record
