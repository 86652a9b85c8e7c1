// Which bits of an address choose a place in a machine: a set of a cache or of a directory, a slice, a bank.
#pragma once

#include "models/machine_spec.hpp"

namespace linebounce {

// The number of low bits of an address on which these places depend. Lines whose addresses agree in them compete for the same
// sets. Slices and banks whose number is not a power of two depend on all bits, and count as if it were the next one. REQUIRES:
// a checked machine, in which the numbers of sets are powers of two.
int index_bits(const MachineSpec& spec);

}  // namespace linebounce
