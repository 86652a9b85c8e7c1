#include "known_threads.h"

// Threads that are not joined yet. If the table is full, a thread's join is only counted, not recorded.
enum { kKnownThreads = 1024 };
static struct {
  pthread_t thread;
  uint32_t number_plus_one;  // 0: the place is free
} known[kKnownThreads];
static uint32_t known_lock;

static void lock_known(void) {
  while (__atomic_exchange_n(&known_lock, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

static void unlock_known(void) { __atomic_store_n(&known_lock, 0, __ATOMIC_RELEASE); }

void forget_lock_of_threads(void) { unlock_known(); }

void remember_thread(pthread_t thread, uint32_t number) {
  lock_known();
  int place = -1;
  for (int i = 0; i < kKnownThreads; ++i) {
    if (known[i].number_plus_one != 0 && known[i].thread == thread) known[i].number_plus_one = 0;
    if (known[i].number_plus_one == 0 && place < 0) place = i;
  }
  if (place >= 0) {
    known[place].thread = thread;
    known[place].number_plus_one = number + 1;
  }
  unlock_known();
}

uint32_t known_thread(pthread_t thread) {
  uint32_t number = 0;
  lock_known();
  for (int i = 0; i < kKnownThreads && number == 0; ++i) {
    if (known[i].thread == thread) number = known[i].number_plus_one;
  }
  unlock_known();
  return number;
}

void forget_thread(uint32_t number_plus_one) {
  lock_known();
  for (int i = 0; i < kKnownThreads; ++i) {
    if (known[i].number_plus_one == number_plus_one) known[i].number_plus_one = 0;
  }
  unlock_known();
}
