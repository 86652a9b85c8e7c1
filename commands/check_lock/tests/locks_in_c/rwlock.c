// programs/locks/rwlock.lua in C.
#include <linebounce/lock.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { kWriter = 0x01000000 };

struct rwlock {
  atomic_int counter;
};
LINEBOUNCE_LOCK(struct rwlock, .title = "Reader-writer lock in C")

void acquire(struct rwlock *lock) {
  while (atomic_fetch_add(&lock->counter, kWriter) != 0) {
    atomic_fetch_sub(&lock->counter, kWriter);
    while (atomic_load_explicit(&lock->counter, memory_order_relaxed) != 0) linebounce_pause();
  }
}

bool try_acquire(struct rwlock *lock) {
  if (atomic_fetch_add(&lock->counter, kWriter) == 0) return true;
  atomic_fetch_sub(&lock->counter, kWriter);
  return false;
}

void release(struct rwlock *lock) { atomic_fetch_sub(&lock->counter, kWriter); }

void acquire_shared(struct rwlock *lock) {
  while (atomic_fetch_add(&lock->counter, 1) >= kWriter) {
    atomic_fetch_sub(&lock->counter, 1);
    while (atomic_load_explicit(&lock->counter, memory_order_relaxed) >= kWriter) linebounce_pause();
  }
}

void release_shared(struct rwlock *lock) { atomic_fetch_sub(&lock->counter, 1); }
