// Child processes, which are not recorded, and the program's own end. What the program makes by clone() is neither a thread
// nor a child process for the C library.
#include "processes.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"
#include "known_threads.h"
#include "real.h"

static void forked(void) { record_in_order(kFork, 0, 0); }

static void in_forked_child(void) {
  forget_lock_of_threads();
  if (!recording) return;
  recording = false;
  this_thread.ring = NULL;
  __atomic_fetch_add(&channel->forks, 1, __ATOMIC_RELAXED);
}

void prepare_processes(void) { pthread_atfork(NULL, forked, in_forked_child); }

struct Clone {
  int (*runs)(void*);
  void* argument;
};

static int run_copy(void* memory) {
  const struct Clone clone = *(const struct Clone*)memory;
  in_forked_child();
  return clone.runs(clone.argument);
}

// A clone that shares the program's memory and its maker's thread-local variables would write into its maker's ring. A ring has
// one writer, so the runtime stops recording both. With CLONE_VFORK it goes on recording the maker, which sleeps until the clone
// has ended. A clone with a copy of the memory is a forked child, and also has a copy of this stack.
EXPORTED int clone(int (*runs)(void*), void* stack, int flags, void* argument, ...) {
  va_list more;
  va_start(more, argument);
  pid_t* parent_id = va_arg(more, pid_t*);
  void* thread_data = va_arg(more, void*);
  pid_t* child_id = va_arg(more, pid_t*);
  va_end(more);
  struct Clone copy = {runs, argument};
  if (recording && (flags & CLONE_VM) == 0) {
    forked();
    runs = run_copy;
    argument = &copy;
  } else if (recording && (flags & (CLONE_SETTLS | CLONE_VFORK)) == 0) {
    __atomic_fetch_add(&channel->clones, 1, __ATOMIC_RELAXED);
    end_thread();
  }
  return REAL(clone)(runs, stack, flags, argument, parent_id, thread_data, child_id);
}

// Tells the collector that the program ends by its own will. A process that is killed never gets here.
static void note_exit(void) {
  if (recording) __atomic_store_n(&channel->exited, 1, __ATOMIC_RELEASE);
}
__attribute__((destructor)) static void at_exit(void) { note_exit(); }

#define EXIT(name)                                         \
  EXPORTED __attribute__((noreturn)) void name(int status) { \
    note_exit();                                           \
    for (;;) REAL(syscall)(SYS_exit_group, status);              \
  }
EXIT(_exit)
EXIT(_Exit)
