#pragma once

#include "runtime.h"

// allocate_apart() returns zeroed memory outside the program's heap, aligned to 16 bytes. REQUIRES for the last three:
// is_apart(memory).
HIDDEN void prepare_apart(void);
HIDDEN void* allocate_apart(size_t bytes);
HIDDEN void* allocate_thread_table(size_t entries, size_t bytes);
HIDDEN bool is_apart(const void* memory);
HIDDEN size_t apart_bytes(void* memory);
HIDDEN void* reallocate_apart(void* memory, size_t bytes);
HIDDEN void free_apart(void* memory);
