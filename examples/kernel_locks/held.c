// References to an object that another user holds for good, so dropping one never frees it. table.py copies this file beside
// a lockref that `linebounce lock` has made. With TEST_AND_SET a test-and-set lock replaces the kernel's spin lock.
// linebounce includes from: headers source/include
#include <linebounce/kernel.h>

#include "source/kernel/locking/qspinlock.c"
#ifdef TEST_AND_SET
#include <linux/spinlock.h>
static inline void test_and_set_lock(volatile unsigned char* held) {
  while (__atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE)) {
    while (__atomic_load_n(held, __ATOMIC_RELAXED)) linebounce_pause();
  }
}
#undef spin_lock
#undef spin_unlock
#define spin_lock(lock) test_and_set_lock((unsigned char*)(lock))
#define spin_unlock(lock) __atomic_store_n((unsigned char*)(lock), 0, __ATOMIC_RELEASE)
#endif
#include "source/lib/lockref.c"

LINEBOUNCE_LOCK(struct lockref, .title = "references to an object that is held")

void init(struct lockref* lock) {
  lock->count = 1;
}

void acquire(struct lockref* lock) {
  for (;;) {
    spin_lock(&lock->lock);
    if (lock->count == 1) return;
    spin_unlock(&lock->lock);
    while (READ_ONCE(lock->count) != 1) cpu_relax();
  }
}

void release(struct lockref* lock) {
  spin_unlock(&lock->lock);
}

void acquire_shared(struct lockref* lock) {
  lockref_get(lock);
}

void release_shared(struct lockref* lock) {
  if (lockref_put_return(lock) >= 0) return;
  spin_lock(&lock->lock);
  lock->count--;
  spin_unlock(&lock->lock);
}
