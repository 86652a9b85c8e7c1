#pragma once

#include "runtime.h"

// Returns `memory`, which `caller` has allocated; NULL: it has not. `element`: 0 if it is not known.
HIDDEN void* allocated(void* memory, size_t bytes, size_t element, uintptr_t caller);
// The same of a block whose alignment was asked for.
HIDDEN void* allocated_aligned(void* memory, size_t bytes, uintptr_t caller);
