// Tells whose code is at an address: the program's, the loader's or the runtime's.
#pragma once

#include <stdint.h>

enum CodeOwner { kProgram, kRuntime, kLoader };

// Decides by the mapped file's name. All code except the loader's and the preloaded runtime's counts as the program's,
// including its libraries.
enum CodeOwner owner_of(uint64_t address);
