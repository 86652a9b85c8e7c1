// programs/locks/clh.lua in C: for a CPU that holds one such lock at a time.
#include <linebounce/lock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct clh_node {
  _Alignas(128) _Atomic long waits;
};
struct clh_lock {
  _Atomic(struct clh_node *) tail;
  struct clh_node first;
};
LINEBOUNCE_LOCK(struct clh_lock, .title = "CLH in C", .fifo = 1)

static _Thread_local struct {
  struct clh_node first;
  _Alignas(128) struct clh_node *mine, *before;
} own;

void init(struct clh_lock *lock) { lock->tail = &lock->first; }

static struct clh_node *node(void) {
  if (own.mine == NULL) own.mine = &own.first;
  return own.mine;
}

static void wait_at(struct clh_node *before) {
  while (atomic_load_explicit(&before->waits, memory_order_acquire)) linebounce_pause();
}

void acquire(struct clh_lock *lock) {
  struct clh_node *mine = node();
  atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
  struct clh_node *before = atomic_exchange(&lock->tail, mine);
  wait_at(before);
  own.before = before;
}

bool try_acquire(struct clh_lock *lock) {
  struct clh_node *before = atomic_load_explicit(&lock->tail, memory_order_relaxed);
  if (atomic_load_explicit(&before->waits, memory_order_acquire)) return false;
  struct clh_node *mine = node();
  atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
  if (!atomic_compare_exchange_strong(&lock->tail, &before, mine)) return false;
  wait_at(before);
  own.before = before;
  return true;
}

void release(struct clh_lock *lock) {
  (void)lock;
  struct clh_node *before = own.before;
  atomic_store_explicit(&own.mine->waits, 0, memory_order_release);
  own.mine = before;
}
