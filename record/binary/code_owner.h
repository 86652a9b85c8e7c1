// Whose instructions are at an address.
#pragma once

#include <stdint.h>

enum CodeOwner { kProgram, kRuntime, kLoader };

// By the name of the file that is mapped there. What is neither the loader nor our preloaded runtime is the program, with all
// its libraries.
enum CodeOwner owner_of(uint64_t address);
