#pragma once

#include "runtime.h"

// A call of C++'s operator new (operators.c).
struct NewBlock {
  void* memory;  // NULL: the operator has failed, or has not returned yet
  size_t bytes;
  uintptr_t caller;
  bool is_aligned;  // the program requested an alignment
  bool was_silent;
};

// Libraries call these in the program that they are loaded into, as they call the functions for accesses. Blocks that the
// operator allocates by other functions in between are not recorded, because it usually calls malloc.
EXPORTED void __tsan_linebounce_new_begins(struct NewBlock* block);
EXPORTED void __tsan_linebounce_new_ends(const struct NewBlock* block);
