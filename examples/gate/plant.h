// measure.py plants these macros in loops: a regression, or a slowdown that no other thread notices. `number` is the
// thread's round, `me` its own number. One round in EVERY does the planted work.
#pragma once

#include <pthread.h>

#define PLANT(number, me)                                                      \
  do {                                                                         \
    if ((unsigned long)(number) % EVERY == 0) plant((unsigned long)(me) % 64); \
  } while (0)

#if defined(COUNTER)  // a counter that all threads add to
static __attribute__((aligned(64))) long planted_total;
static inline void plant(unsigned long me) {
  (void)me;
  __atomic_fetch_add(&planted_total, 1, __ATOMIC_RELAXED);
}
#elif defined(NEIGHBOURS)  // the threads' counts, side by side
static __attribute__((aligned(64))) volatile long planted_counts[64];
static inline void plant(unsigned long me) {
  planted_counts[me] = planted_counts[me] + 1;
}
#elif defined(LOCK)        // one lock, which guards something of the thread's own
static pthread_mutex_t planted_lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((aligned(64))) volatile long planted_own[64][8];
static inline void plant(unsigned long me) {
  pthread_mutex_lock(&planted_lock);
  planted_own[me][0] = planted_own[me][0] + 1;
  pthread_mutex_unlock(&planted_lock);
}
#elif defined(PRIVATE)     // work on the thread's own data
static __attribute__((aligned(64))) volatile long planted_work[64][8];
static inline void plant(unsigned long me) {
  for (int i = 0; i < 100; i++) planted_work[me][i % 8] = planted_work[me][i % 8] + i;
}
#else
#error "define COUNTER, NEIGHBOURS, LOCK or PRIVATE"
#endif
