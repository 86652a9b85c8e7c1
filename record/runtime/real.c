#include "real.h"

#include "runtime.h"

#define DEFINE_REAL(name) __typeof__(&name) real_##name;
REAL_FUNCTIONS(DEFINE_REAL)
REAL_CONDITIONS(DEFINE_REAL)

// Stores dlsym()'s data pointer as a function pointer. POSIX allows this; C has no cast for it.
#define FIND(name) *(void**)&real_##name = dlsym(RTLD_NEXT, #name);
#define FIND_CONDITION(name) *(void**)&real_##name = dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2");

void find_real_functions(void) {
  const bool was_apart = this_thread.apart;
  this_thread.apart = true;
  REAL_FUNCTIONS(FIND)
  REAL_CONDITIONS(FIND_CONDITION)
  this_thread.apart = was_apart;
}
