// Looks, and then takes the lock: two CPUs may look at once. broken.lua is the same.
#include <linebounce/lock.h>
#include <stdatomic.h>

struct broken {
  atomic_int held;
};
LINEBOUNCE_LOCK(struct broken, .title = "Looks before it takes")

void acquire(struct broken *lock) {
  while (atomic_load(&lock->held)) linebounce_pause();
  atomic_store_explicit(&lock->held, 1, memory_order_relaxed);
}
void release(struct broken *lock) { atomic_store_explicit(&lock->held, 0, memory_order_release); }
