// From which end a listing counts the bits of a bit-field's unit.
#pragma once

#include <vector>

#include "types/named_types.hpp"

namespace linebounce::types {

// pahole before 2019 and gdb before version 9 count from the most significant bit of the unit, later ones from the least
// significant. Nothing in a listing says which, but only one way of counting leaves the members in order and without overlap.
// Places the bit-fields of all outlines by that way. Bytes of a unit whose bits stay open are untold.
// REQUIRES: the bit-fields are placed as if bits were counted from the least significant one.
void settle_bit_numbering(std::vector<Outline>& outlines);

}  // namespace linebounce::types
