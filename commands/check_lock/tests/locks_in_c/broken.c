// Checks the lock, then takes it: two CPUs may both find it free. The same as broken.lua.
#include <linebounce/lock.h>
#include <stdatomic.h>

struct broken {
  atomic_int held;
};
LINEBOUNCE_LOCK(struct broken, .title = "Looks before it takes")

void acquire(struct broken* lock) {
  while (atomic_load(&lock->held)) linebounce_pause();
  atomic_store_explicit(&lock->held, 1, memory_order_relaxed);
}
void release(struct broken* lock) {
  atomic_store_explicit(&lock->held, 0, memory_order_release);
}
