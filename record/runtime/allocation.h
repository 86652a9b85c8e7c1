#pragma once

#include "runtime.h"

// Records `memory`, which `caller` has allocated (NULL if that failed), and returns it. `element`: 0 if unknown.
HIDDEN void* allocated(void* memory, size_t bytes, size_t element, uintptr_t caller);
// The same for a block with a requested alignment.
HIDDEN void* allocated_aligned(void* memory, size_t bytes, uintptr_t caller);
