// The owner of the instructions at an address.
#pragma once

#include <stdint.h>

enum CodeOwner { kProgram, kRuntime, kLoader };

// Decides by the name of the mapped file. Everything except the loader and our preloaded runtime belongs to the program,
// including all its libraries.
enum CodeOwner owner_of(uint64_t address);
