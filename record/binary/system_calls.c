#include "system_calls.h"

#include <sys/syscall.h>

#include "announce.h"
#include "follower.h"

// The call under way. `ticks` is 0 if none is measured.
THREAD_LOCAL struct {
  uint64_t ticks;  // the time stamp counter when it began
  struct Usage usage;
} call;

static bool is_measured(int64_t number) {
  switch (number) {
    case SYS_futex:
    case SYS_sched_yield:
    // In these QEMU works or waits itself: it stops all threads to change its map of the memory, and writes the files of
    // /proc/self when they are opened. That takes milliseconds, and microseconds without QEMU.
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_brk:
    case SYS_madvise:
    case SYS_open:
    case SYS_openat:
    case ANNOUNCE_THREAD:
    case ANNOUNCE_CALLBACK: return false;
    default: return is_followed();
  }
}

void calls_system(int64_t number) {
  call.ticks = 0;
  if (!is_measured(number)) return;
  call.usage = usage_now();
  call.ticks = __builtin_ia32_rdtsc();
}

void system_has_returned(void) {
  if (call.ticks == 0 || !is_followed()) return;
  const uint64_t ticks = __builtin_ia32_rdtsc() - call.ticks;
  call.ticks = 0;
  write_instructions();
  record(kBlocked, 1, ticks_not_lost(ticks, call.usage, usage_now()));
}
