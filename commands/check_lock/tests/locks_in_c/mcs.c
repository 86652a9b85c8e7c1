// programs/locks/mcs.lua in C: for a CPU that holds one such lock at a time.
#include <linebounce/lock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mcs_node {
  _Atomic(struct mcs_node *) next;
  _Atomic long waits;
};
struct mcs_lock {
  _Atomic(struct mcs_node *) tail;
};
LINEBOUNCE_LOCK(struct mcs_lock, .title = "MCS in C", .fifo = 1)

static _Thread_local _Alignas(64) struct mcs_node mine;

void acquire(struct mcs_lock *lock) {
  atomic_store_explicit(&mine.next, NULL, memory_order_relaxed);
  atomic_store_explicit(&mine.waits, 1, memory_order_relaxed);
  struct mcs_node *before = atomic_exchange_explicit(&lock->tail, &mine, memory_order_acq_rel);
  if (before == NULL) return;
  atomic_store_explicit(&before->next, &mine, memory_order_release);
  while (atomic_load_explicit(&mine.waits, memory_order_acquire)) linebounce_pause();
}

bool try_acquire(struct mcs_lock *lock) {
  struct mcs_node *nobody = NULL;
  atomic_store_explicit(&mine.next, NULL, memory_order_relaxed);
  return atomic_compare_exchange_strong(&lock->tail, &nobody, &mine);
}

void release(struct mcs_lock *lock) {
  struct mcs_node *after = atomic_load_explicit(&mine.next, memory_order_acquire);
  if (after == NULL) {
    struct mcs_node *last = &mine;
    if (atomic_compare_exchange_strong(&lock->tail, &last, NULL)) return;
    while ((after = atomic_load_explicit(&mine.next, memory_order_acquire)) == NULL) linebounce_pause();
  }
  atomic_store_explicit(&after->waits, 0, memory_order_release);
}
