// Threads: creation and joining.
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "apart.h"
#include "code_at.h"
#include "events.h"
#include "known_threads.h"
#include "openmp.h"
#include "real.h"

static void record_join(uint32_t number_plus_one) {
  if (number_plus_one == 0) {
    if (this_ring() != NULL) __atomic_fetch_add(&channel->unknown_joins, 1, __ATOMIC_RELAXED);
    return;
  }
  forget_thread(number_plus_one);
  record_in_order(kJoin, 0, number_plus_one - 1);
}

// The argument of a new thread's first function, which is ours. If there is no memory for it, the thread's own function is the
// first, and the thread joins at its first event.
struct Beginning {
  void* (*runs)(void*);
  int (*runs_c11)(void*);
  void* argument;
  uintptr_t name;  // the function that gives the thread its name
  uint32_t number;
};

static struct Beginning* new_beginning(void* argument, uintptr_t name) {
  struct Beginning* beginning = allocate_apart(sizeof(struct Beginning));
  if (beginning != NULL) *beginning = (struct Beginning){.argument = argument, .name = name, .number = new_thread_number()};
  return beginning;
}

enum { kNanosecondsOfSecond = 1000000000 };

static uint64_t nanoseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * kNanosecondsOfSecond + (uint64_t)now.tv_nsec;
}

// With --spread, threads that are created shortly after each other begin together: each sleeps until no thread has been created
// for spread_ns. (A barrier with a count of threads could wait for ever.)
static void begin_with_others(void) {
  if (!recording || channel->spread_ns == 0) return;
  for (;;) {
    const uint64_t begins = __atomic_load_n(&channel->latest_creation, __ATOMIC_ACQUIRE) + channel->spread_ns;
    if (nanoseconds_now() >= begins) return;
    const struct timespec until = {(time_t)(begins / kNanosecondsOfSecond), (long)(begins % kNanosecondsOfSecond)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  }
}

static void* run_thread(void* memory) {
  const struct Beginning* beginning = memory;
  begin_with_others();
  begin_thread(beginning->number, beginning->name);
  return beginning->runs(beginning->argument);
}

static int run_c11_thread(void* memory) {
  const struct Beginning* beginning = memory;
  begin_with_others();
  begin_thread(beginning->number, beginning->name);
  return beginning->runs_c11(beginning->argument);
}

// Finds the function that names a thread. Under std::thread, `runs` is a function of the C++ library, and the third virtual
// function of its argument calls the program's function. An OpenMP thread is named after the region that it was created for.
// A child of fork must not look: the C library's lock of loaded files stays taken in it if a thread held it at the fork.
static uintptr_t function_of_thread(void* (*runs)(void*), void* argument) {
  if (!recording) return 0;
  struct CodeAt code;
  const uintptr_t address = (uintptr_t)runs;
  const bool is_known = find_code(address, &code);
  if (is_known && strstr(code.file, "libgomp.so") != NULL && function_of_region() != 0) return function_of_region();
  if (!is_known || strstr(code.file, "libstdc++.so") == NULL) return address;
  return (*(uintptr_t**)argument)[2];
}

// Recorded before the thread exists, so that it precedes the thread's events. If the creation fails, the thread has no events.
static void creating(const struct Beginning* beginning) {
  if (recording) __atomic_store_n(&channel->latest_creation, nanoseconds_now(), __ATOMIC_RELEASE);
  const uint64_t more = beginning->name;
  record_in_order_with(kCreate, 0, beginning->number, &more, 1);
}

// The creation's own time does not count: recording makes it longer, and threads would begin one after another.
EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*runs)(void*), void* argument) {
  struct Beginning* beginning = new_beginning(argument, function_of_thread(runs, argument));
  if (beginning == NULL) return REAL(pthread_create)(thread, attributes, runs, argument);
  beginning->runs = runs;
  creating(beginning);
  this_thread.creates_thread = true;
  const int result = REAL(pthread_create)(thread, attributes, run_thread, beginning);
  this_thread.creates_thread = false;
  restart_work();
  if (result == 0) remember_thread(*thread, beginning->number);
  return result;
}

EXPORTED int thrd_create(thrd_t* thread, thrd_start_t runs, void* argument) {
  struct Beginning* beginning = new_beginning(argument, (uintptr_t)runs);
  if (beginning == NULL) return REAL(thrd_create)(thread, runs, argument);
  beginning->runs_c11 = runs;
  creating(beginning);
  this_thread.creates_thread = true;
  const int result = REAL(thrd_create)(thread, run_c11_thread, beginning);
  this_thread.creates_thread = false;
  restart_work();
  if (result == thrd_success) remember_thread(*thread, beginning->number);
  return result;
}

// Looks the number up before the join, because afterwards a new thread may get the same pthread_t.
#define JOIN(name, parameters, thread, arguments)       \
  EXPORTED int name parameters {                        \
    const uint32_t number = known_thread(thread);       \
    const int result = WAITING(REAL(name) arguments);  \
    if (result == 0) record_join(number);               \
    return result;                                      \
  }
JOIN(pthread_join, (pthread_t thread, void** value), thread, (thread, value))
JOIN(pthread_tryjoin_np, (pthread_t thread, void** value), thread, (thread, value))
JOIN(pthread_timedjoin_np, (pthread_t thread, void** value, const struct timespec* until), thread, (thread, value, until))
JOIN(thrd_join, (thrd_t thread, int* value), thread, (thread, value))
