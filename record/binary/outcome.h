// Whether a compare-and-exchange has stored. QEMU 7.2 shows a plugin no registers, and the word's value behind the instruction
// may be another thread's; but where the thread goes next depends on it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder.h"
#include "qemu_plugin.h"

struct Outcome {
  uint64_t if_stored, if_failed;  // the block that comes next; both 0: that does not depend on it
};

// Of the instruction of that number in the block.
struct Outcome outcome_of(const Block* block, size_t number);

// Whether the program looks at the flags that the instruction sets, as to see whether a sum has become 0.
bool flags_are_read(const Block* block, size_t number);
