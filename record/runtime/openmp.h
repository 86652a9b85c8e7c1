#pragma once

#include "runtime.h"

// The function of the OpenMP region that this thread is creating or running; 0: none.
HIDDEN uintptr_t function_of_region(void);
