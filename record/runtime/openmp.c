// Entry points of libgomp, the OpenMP library of gcc. Instrumentation cannot see how the library waits, so waiting is recorded
// here. A parallel region begins and ends with a barrier of its team. Its critical sections and locks are mutexes. A task waits
// for its creator.
//
// Of several teams that run at once, only one has its barriers recorded. The channel counts the other teams' barriers.
#include "openmp.h"

#include <dlfcn.h>
#include <stdalign.h>
#include <stdint.h>

#include "events.h"
#include "real.h"

typedef void Body(void* data);

// A parallel region: the function that all threads of its team run.
struct Region {
  Body* runs;
  void* data;
  bool has_barriers;
};

uintptr_t function_of_region(void) {
  return this_thread.region == NULL ? 0 : (uintptr_t)this_thread.region->runs;
}

// A barrier's identity is an address in one of these arrays, at the index of the team's size. So only one team at a time can
// have barriers: neither a nested team nor a team that another thread starts meanwhile has any. A region's begin and end have
// separate barriers, so no thread can pass one of them twice before all threads have passed it once. A byte is 1 once the
// collector knows the barrier's number of threads.
enum { kLargestTeam = 1024 };
static char openmp_region_begins[kLargestTeam + 1], openmp_region_ends[kLargestTeam + 1], openmp_barrier[kLargestTeam + 1];
static uint32_t told_lock;
static uint32_t barriers_taken;  // 1: a running team uses them

static int (*team_size)(void);

// Records the barrier's number of threads once, before its first pass.
static void tell_threads(char* barrier, int threads) {
  while (__atomic_exchange_n(&told_lock, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
  if (*barrier == 0) {
    const uint64_t more = (uint64_t)threads;
    record_in_order_with(kBarrierInit, 0, (uintptr_t)barrier, &more, 1);
    *barrier = 1;
  }
  __atomic_store_n(&told_lock, 0, __ATOMIC_RELEASE);
}

static void pass_barrier(char* barriers) {
  record_order();
  if (team_size == NULL) return;
  const int threads = team_size();
  if (threads < 2 || threads > kLargestTeam) return;
  if (this_thread.region == NULL || !this_thread.region->has_barriers) {
    __atomic_fetch_add(&channel->nested_teams, 1, __ATOMIC_RELAXED);
    return;
  }
  tell_threads(&barriers[threads], threads);
  record_in_order(kTeamBarrier, 0, (uintptr_t)&barriers[threads]);
}

static void run(Body* runs, void* data) {
  uint64_t kept;
  if (announce_callback != NULL) announce_callback(&kept, true);
  runs(data);
  if (announce_callback != NULL) announce_callback(&kept, false);
}

static void run_region(void* memory) {
  struct Region* around = this_thread.region;
  struct Region* region = this_thread.region = memory;
  restart_work();
  pass_barrier(openmp_region_begins);
  run(region->runs, region->data);
  pass_barrier(openmp_region_ends);
  this_thread.region = around;
}

// Finds libgomp's function on the first call rather than at the start, because most programs have no OpenMP.
#define FIND_REAL(name)                                       \
  static __typeof__(&name) real;                              \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name); \
  if (team_size == NULL) *(void**)&team_size = dlsym(RTLD_NEXT, "omp_get_num_threads");

static struct Region begin_region(Body* runs, void* data) {
  record_order();
  return (struct Region){runs, data, __atomic_exchange_n(&barriers_taken, 1, __ATOMIC_ACQ_REL) == 0};
}

static void end_region(const struct Region* region) {
  if (region->has_barriers) __atomic_store_n(&barriers_taken, 0, __ATOMIC_RELEASE);
  record_order();
}

#define PARALLEL(name, parameters, arguments)                      \
  EXPORTED void name parameters;                                   \
  void name parameters {                                           \
    FIND_REAL(name)                                                     \
    struct Region begun = begin_region(runs, data);                \
    struct Region* around = this_thread.region;                    \
    this_thread.region = &begun; /* its threads are known by it */ \
    real arguments;                                                \
    restart_work();                                                \
    this_thread.region = around;                                   \
    end_region(&begun);                                            \
  }
PARALLEL(GOMP_parallel, (Body * runs, void* data, unsigned threads, unsigned flags), (run_region, &begun, threads, flags))
PARALLEL(GOMP_parallel_sections, (Body * runs, void* data, unsigned threads, unsigned count, unsigned flags),
         (run_region, &begun, threads, count, flags))
#define PARALLEL_LOOP(kind)                                                                                        \
  PARALLEL(GOMP_parallel_loop_##kind,                                                                              \
           (Body * runs, void* data, unsigned threads, long from, long to, long step, long chunk, unsigned flags), \
           (run_region, &begun, threads, from, to, step, chunk, flags))
PARALLEL_LOOP(static)
PARALLEL_LOOP(dynamic)
PARALLEL_LOOP(guided)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)
#define PARALLEL_LOOP_BY_ENVIRONMENT(kind)                                                             \
  PARALLEL(GOMP_parallel_loop_##kind,                                                                  \
           (Body * runs, void* data, unsigned threads, long from, long to, long step, unsigned flags), \
           (run_region, &begun, threads, from, to, step, flags))
PARALLEL_LOOP_BY_ENVIRONMENT(runtime)
PARALLEL_LOOP_BY_ENVIRONMENT(nonmonotonic_runtime)
PARALLEL_LOOP_BY_ENVIRONMENT(maybe_nonmonotonic_runtime)

// Loops and sections without nowait end with a barrier of the team.
#define BARRIER(name)             \
  EXPORTED void name(void);       \
  void name(void) {               \
    FIND_REAL(name)                    \
    record_order();               \
    real();                       \
    restart_work();               \
    pass_barrier(openmp_barrier); \
  }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
// Like BARRIER, for a region that may be cancelled. The function returns true if it was.
#define CANCEL_BARRIER(name)       \
  EXPORTED bool name(void);        \
  bool name(void) {                \
    FIND_REAL(name)                     \
    record_order();                \
    const bool cancelled = real(); \
    restart_work();                \
    pass_barrier(openmp_barrier);  \
    return cancelled;              \
  }
CANCEL_BARRIER(GOMP_barrier_cancel)
CANCEL_BARRIER(GOMP_loop_end_cancel)
CANCEL_BARRIER(GOMP_sections_end_cancel)

// Locks for sections without a name. A named section's lock is a variable that the compiler generates.
static int openmp_critical, openmp_atomic;
#define LOCKED(begin, end, parameters, arguments, lock)   \
  EXPORTED void begin parameters;                         \
  void begin parameters {                                 \
    FIND_REAL(begin)                                           \
    pause_work();                                         \
    real arguments;                                       \
    restart_work();                                       \
    record_in_order(kAcquire, kMutex | kOneWord, (uintptr_t)(lock)); \
  }                                                       \
  EXPORTED void end parameters;                           \
  void end parameters {                                   \
    FIND_REAL(end)                                             \
    record_in_order(kRelease, kMutex | kOneWord, (uintptr_t)(lock)); \
    real arguments;                                       \
    restart_work();                                       \
  }
LOCKED(GOMP_critical_start, GOMP_critical_end, (void), (), &openmp_critical)
LOCKED(GOMP_critical_name_start, GOMP_critical_name_end, (void** word), (word), word)
LOCKED(GOMP_atomic_start, GOMP_atomic_end, (void), (), &openmp_atomic)
LOCKED(omp_set_lock, omp_unset_lock, (void* lock), (lock), lock)
LOCKED(omp_set_nest_lock, omp_unset_nest_lock, (void* lock), (lock), lock)

static void tried_lock(int had, const void* lock) {
  if (had != 0) {
    record_in_order(kAcquire, kMutex | kTriedLock | kOneWord, (uintptr_t)lock);
  } else {
    record_address(kTryFailed, kMutex | kTriedLock | kOneWord, lock);
  }
}
#define TRY_LOCK(name)           \
  EXPORTED int name(void* lock); \
  int name(void* lock) {         \
    FIND_REAL(name)                   \
    const int had = real(lock);  \
    tried_lock(had, lock);       \
    return had;                  \
  }
TRY_LOCK(omp_test_lock)
TRY_LOCK(omp_test_nest_lock)

// One thread executes the section, and the others receive its result.
EXPORTED void* GOMP_single_copy_start(void);
void* GOMP_single_copy_start(void) {
  FIND_REAL(GOMP_single_copy_start)
  pause_work();
  void* data = real();
  restart_work();
  record_order();
  return data;
}

EXPORTED void GOMP_single_copy_end(void* data);
void GOMP_single_copy_end(void* data) {
  FIND_REAL(GOMP_single_copy_end)
  record_order();
  real(data);
}

// Threads execute their ordered parts one after the other.
EXPORTED void GOMP_ordered_start(void);
void GOMP_ordered_start(void) {
  FIND_REAL(GOMP_ordered_start)
  pause_work();
  real();
  restart_work();
  record_order();
}

EXPORTED void GOMP_ordered_end(void);
void GOMP_ordered_end(void) {
  FIND_REAL(GOMP_ordered_end)
  record_order();
  real();
}

// Tasks. libgomp copies a task's data, so the task's function is stored in front of the data. A semaphore orders the task after
// its creator's earlier work.
struct Task {
  Body* runs;
  void* data;
  void (*copies)(void* to, void* from);
  long bytes;
};
enum { kTaskHeader = 64 };     // bytes in front of the data; keeps any alignment of the data
enum { kDetached = 1 << 13 };  // a flag of GOMP_task: libgomp writes to the data itself
static sem_t openmp_task;

static void copy_task(void* to, void* from) {
  const struct Task* task = from;
  *(Body**)to = task->runs;
  char* data = (char*)to + kTaskHeader;
  if (task->copies != NULL) {
    task->copies(data, task->data);
  } else {
    REAL(memcpy)(data, task->data, (size_t)task->bytes);
  }
}

static void run_task(void* memory) {
  restart_work();
  record_in_order(kSemaphoreWait, 0, (uintptr_t)&openmp_task);
  run(*(Body**)memory, (char*)memory + kTaskHeader);
  record_order();
}

EXPORTED void GOMP_task(Body* runs, void* data, void (*copies)(void*, void*), long bytes, long alignment, bool may_wait,
                        unsigned flags, void** depends, int priority, void* detached);
void GOMP_task(Body* runs, void* data, void (*copies)(void*, void*), long bytes, long alignment, bool may_wait, unsigned flags,
               void** depends, int priority, void* detached) {
  FIND_REAL(GOMP_task)
  struct Task task = {runs, data, copies, bytes};
  const long aligned = alignment > (long)alignof(max_align_t) ? alignment : (long)alignof(max_align_t);
  if (aligned > kTaskHeader || (flags & kDetached) != 0) {
    record_order();
    real(runs, data, copies, bytes, alignment, may_wait, flags, depends, priority, detached);
    return;
  }
  record_in_order(kSemaphorePost, 0, (uintptr_t)&openmp_task);
  real(run_task, &task, copy_task, bytes + kTaskHeader, kTaskHeader, may_wait, flags, depends, priority, detached);
}

#define ORDERED_WAIT(name)  \
  EXPORTED void name(void); \
  void name(void) {         \
    FIND_REAL(name)              \
    pause_work();           \
    real();                 \
    restart_work();         \
    record_order();         \
  }
ORDERED_WAIT(GOMP_taskwait)
ORDERED_WAIT(GOMP_taskgroup_end)
