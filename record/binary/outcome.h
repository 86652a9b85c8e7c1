// Whether a compare-and-exchange has stored. QEMU 7.2 shows a plugin no registers, and another thread may have changed the word
// since; but where the thread goes next depends on the outcome.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder.h"
#include "qemu_plugin.h"

struct Outcome {
  uint64_t if_stored, if_failed;  // the block that comes next; both 0 if it does not depend on the outcome
};

// For the instruction with this number in the block.
struct Outcome outcome_of(const Block* block, size_t number);

// Whether the program reads the flags that the instruction sets, for example to check whether a sum is 0.
bool flags_are_read(const Block* block, size_t number);
