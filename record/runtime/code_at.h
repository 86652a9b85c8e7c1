// Finds the loaded file that an address of code is in.
#pragma once

#include "runtime.h"

struct CodeAt {
  const char* file;  // as the loader knows it; "" for the program
  uintptr_t end;     // of the code's segment
  bool is_readable;  // and not only executable
};

// Returns false if the address is in no file's code. Unlike dladdr(), needs no lock that the loader holds while a library's
// constructors run: they may wait for another thread that calls this.
HIDDEN bool find_code(uintptr_t address, struct CodeAt* found);
