// C++'s operators new and delete, in an archive of their own. compiler.sh omits it when the C++ library is linked statically,
// because these operators could then not find the library's own behind them.
#include <stdlib.h>
#include <unistd.h>

#include "allocation.h"
#include "real.h"

// A cleanup handler, so that it also runs when an exception passes.
static void restore_silent(const bool* was_silent) {
  this_thread.silent = *was_silent;
}

static void no_cpp_library(void) {
  static const char kMessage[] =
      "linebounce: the C++ library's operator new cannot be found: link the library dynamically, or by -static-libstdc++\n";
  if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) abort();
  abort();
}

// Allocates with the C++ library's operator, which throws on failure. The operator calls malloc, which must not be recorded a
// second time.
static void* by_new(New* operator_new, size_t bytes, uintptr_t extra) {
  if (operator_new == NULL) no_cpp_library();
  void* memory = NULL;
  {
    const bool was_silent __attribute__((cleanup(restore_silent))) = this_thread.silent;
    this_thread.silent = true;
    memory = operator_new(bytes, extra);
  }
  return memory;
}

#define PLAIN_NEW(name)                                                                     \
  REPLACEABLE void* name(size_t bytes, uintptr_t extra);                                    \
  REPLACEABLE void* name(size_t bytes, uintptr_t extra) {                                   \
    return allocated(by_new(real_##name, bytes, extra), bytes, 0, RETURN_ADDRESS);          \
  }
#define ALIGNED_NEW(name)                                                                   \
  REPLACEABLE void* name(size_t bytes, uintptr_t alignment);                                \
  REPLACEABLE void* name(size_t bytes, uintptr_t alignment) {                               \
    return allocated_aligned(by_new(real_##name, bytes, alignment), bytes, RETURN_ADDRESS); \
  }
REAL_PLAIN_NEW(PLAIN_NEW)
REAL_ALIGNED_NEW(ALIGNED_NEW)
