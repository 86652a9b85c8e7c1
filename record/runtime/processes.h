// How the process multiplies and how it ends.
#pragma once

#include "runtime.h"

// REQUIRES: called before the program's own code runs.
HIDDEN void prepare_processes(void);
