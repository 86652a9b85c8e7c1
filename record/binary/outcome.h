// Finds out whether a compare-and-exchange stored. QEMU 7.2 shows a plugin no registers, and another thread may have changed
// the word since. But the program usually branches on the outcome, so the next block reveals it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder.h"
#include "qemu_plugin.h"

struct Outcome {
  uint64_t if_stored, if_failed;  // first address of the next block in either case; both 0 if it is the same
};

// `number`: the instruction's position in the block.
struct Outcome outcome_of(const Block* block, size_t number);

// Whether the program reads the flags that the instruction sets, for example to see whether a sum became 0.
bool flags_are_read(const Block* block, size_t number);
