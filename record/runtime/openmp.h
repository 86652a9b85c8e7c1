#pragma once

#include "runtime.h"

// The function of the OpenMP team that is being created; 0: none.
HIDDEN uintptr_t function_of_region(void);
