// Replaces dlopen(), so that the collector learns of libraries that are loaded while the program runs.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "real.h"

// Records that a library was loaded, and waits until the collector has examined it.
static void record_library(void) {
  if (this_ring() == NULL) return;
  const struct timespec pause = {0, 100 * 1000};
  const uint32_t seen = __atomic_load_n(&channel->libraries_seen, __ATOMIC_ACQUIRE);
  record_in_order(kLibraryLoaded, 0, 0);
  while (__atomic_load_n(&channel->libraries_seen, __ATOMIC_ACQUIRE) == seen && !collector_is_gone()) {
    syscall(SYS_nanosleep, &pause, NULL);
  }
}

EXPORTED void* dlopen(const char* file, int mode) {
  void* library = real_dlopen(file, mode);
  if (library != NULL && file != NULL) record_library();
  return library;
}
