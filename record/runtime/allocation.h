#pragma once

#include "runtime.h"

// Records the block that `caller` has allocated, and returns it. `memory`: NULL if the allocation failed. `element`: bytes of
// an element; 0 if unknown.
HIDDEN void* allocated(void* memory, size_t bytes, size_t element, uintptr_t caller);
// Like allocated(), for a block with a requested alignment.
HIDDEN void* allocated_aligned(void* memory, size_t bytes, uintptr_t caller);
