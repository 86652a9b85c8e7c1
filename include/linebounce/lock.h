// A lock of your own for Linebounce, in C or C++ (docs/lock-in-c.md). Include this file and declare the lock once:
//
//   struct my_lock { _Atomic int held; };
//   LINEBOUNCE_LOCK(struct my_lock, .title = "My lock", .fifo = 1)
//
// then define acquire and release, and as many of the other functions as the lock has. Every function is optional but these
// two. The file needs nothing else: plain C11 atomics, GCC's __atomic and __sync functions, std::atomic and volatile all work.
// All memory that is not on the stack or constant is simulated: the lock, the file's variables, one copy of each _Thread_local
// variable for each CPU, and a local variable from the moment its address is stored where other CPUs can see it.
#pragma once

#ifdef __cplusplus
#define LINEBOUNCE_C extern "C"
typedef bool linebounce_bool;
#else
#define LINEBOUNCE_C extern
typedef _Bool linebounce_bool;
#endif

// Facts about the lock. Members that are not named are 0.
struct linebounce_traits {
  const char *title;        // one line for lists and reports
  int fifo;                 // CPUs get the lock in the order in which they began to wait; check-lock tests that
  int readers_wait_nested;  // a reader that acquires again may deadlock behind a waiting writer, so replays leave that out
  int numa_aware;           // hand-offs prefer waiters of the holder's node; shown in lists
  int most_cpus;            // the largest number of CPUs that may use the lock; 0: any number
  const char *models;       // the memory models that the lock is made for, such as "sc tso"; 0: all (docs/check-lock.md)
};

struct linebounce_lock {
  unsigned long size, alignment;
  struct linebounce_traits traits;
};

// The lock's type, and its traits as designated initialisers. A zeroed object must be a free lock, unless there is an init.
#define LINEBOUNCE_LOCK(type, ...)                                                                               \
  LINEBOUNCE_C void init(type *lock);           /* before the simulation: makes a zeroed object a free lock */   \
  LINEBOUNCE_C void acquire(type *lock);        /* returns when the calling CPU has the lock */                  \
  LINEBOUNCE_C void release(type *lock);                                                                         \
  LINEBOUNCE_C linebounce_bool try_acquire(type *lock); /* returns false, without the lock, instead of waiting */ \
  LINEBOUNCE_C void acquire_shared(type *lock); /* as a reader; several readers may hold the lock at once */         \
  LINEBOUNCE_C void release_shared(type *lock);                                                                  \
  /* Used instead of release_shared. Returns false if a writer came, and the reader must start again. */         \
  LINEBOUNCE_C linebounce_bool end_shared(type *lock);                                                           \
  LINEBOUNCE_C const struct linebounce_lock linebounce_lock;                                                     \
  const struct linebounce_lock linebounce_lock = {sizeof(type), __alignof__(type), {__VA_ARGS__}};

// The pause of a spin loop. `__builtin_ia32_pause()`, `asm volatile("pause")` and `asm volatile("rep; nop")` do the same.
static inline void linebounce_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__)
  __asm__ volatile("yield" ::: "memory");
#endif
}

// The calling CPU's number, counted from 0; the number of CPUs; a CPU's node, as the operating system numbers them; and its
// last-level cache, counted from 0. These calls take no simulated time.
LINEBOUNCE_C int linebounce_cpu(void);
LINEBOUNCE_C int linebounce_cpus(void);
LINEBOUNCE_C int linebounce_node_of(int cpu);
LINEBOUNCE_C int linebounce_cache_of(int cpu);
// Simulated time in nanoseconds; to read it costs nothing. linebounce_now_ns() gives it modulo 2^32, which is enough for the
// difference of two times.
LINEBOUNCE_C unsigned long long linebounce_clock_ns(void);
LINEBOUNCE_C unsigned linebounce_now_ns(void);
// Returns the address of `cpu`'s copy of a thread-local variable. `own`: the address of the calling CPU's copy.
LINEBOUNCE_C void *linebounce_of_cpu(void *own, int cpu);
