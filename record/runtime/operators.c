// C++'s operators new. compiler.sh tells the linker to wrap them: calls of an operator in the program or library that is linked
// come to __wrap_ here, and __real_ is the operator that they would have called. So every library keeps its own operators,
// wherever they are defined, and what linebounce-cc did not compile is not touched.
//
// This archive is linked with each program and each library in C++; the runtime itself only with programs.
#include "allocation.h"

// A cleanup handler, so that it also runs when the operator throws.
static void end_new(const struct NewBlock* block) { __tsan_linebounce_new_ends(block); }

#define WRAP_NEW(name, is_aligned)                                                                              \
  void* __real_##name(size_t bytes, uintptr_t second, uintptr_t third);                                         \
  HIDDEN void* __wrap_##name(size_t bytes, uintptr_t second, uintptr_t third);                                  \
  void* __wrap_##name(size_t bytes, uintptr_t second, uintptr_t third) {                                        \
    struct NewBlock block __attribute__((cleanup(end_new))) = {NULL, bytes, RETURN_ADDRESS, is_aligned, false}; \
    __tsan_linebounce_new_begins(&block);                                                                       \
    return block.memory = __real_##name(bytes, second, third);                                                  \
  }
WRAP_NEW(_Znwm, false)
WRAP_NEW(_Znam, false)
WRAP_NEW(_ZnwmRKSt9nothrow_t, false)
WRAP_NEW(_ZnamRKSt9nothrow_t, false)
WRAP_NEW(_ZnwmSt11align_val_t, true)
WRAP_NEW(_ZnamSt11align_val_t, true)
WRAP_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, true)
WRAP_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, true)
