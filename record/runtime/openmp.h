#pragma once

#include "runtime.h"

// What OpenMP's team runs that is being made; 0: none is.
HIDDEN uintptr_t function_of_region(void);
