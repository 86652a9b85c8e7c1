// programs/locks/peterson.lua in C: right only with the fence, and under the same models.
#include <linebounce/lock.h>
#include <stdatomic.h>

struct peterson {
  _Alignas(64) atomic_int wants[2];
  _Alignas(64) atomic_int turn;
};
LINEBOUNCE_LOCK(struct peterson, .title = "Peterson in C", .most_cpus = 2, .models = "sc tso ia64")

void acquire(struct peterson *lock) {
  const int me = linebounce_cpu(), other = 1 - me;
  atomic_store_explicit(&lock->wants[me], 1, memory_order_relaxed);
  atomic_store_explicit(&lock->turn, other, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
  while (atomic_load_explicit(&lock->wants[other], memory_order_acquire) &&
         atomic_load_explicit(&lock->turn, memory_order_acquire) == other) {
    linebounce_pause();
  }
}

void release(struct peterson *lock) { atomic_store_explicit(&lock->wants[linebounce_cpu()], 0, memory_order_release); }
