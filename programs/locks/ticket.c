// The ticket lock of ticket.lua in C (docs/lock-in-c.md): one atomic operation per acquisition; first come, first served.
//
//   linebounce check-lock programs/locks/ticket.c
//   linebounce run programs/locks/ticket.c --machine generic_2socket_32core
#include <linebounce/lock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ticket_lock {
  union {
    struct {
      _Atomic uint32_t next, serving;
    };
    _Atomic uint64_t both;
  };
};
LINEBOUNCE_LOCK(struct ticket_lock, .title = "Ticket lock in C: first come, first served", .fifo = 1)

void acquire(struct ticket_lock *lock) {
  const uint32_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock->serving, memory_order_acquire) != mine) linebounce_pause();
}

// Takes the next ticket only if that ticket is being served already, so that it never waits.
bool try_acquire(struct ticket_lock *lock) {
  uint64_t both = atomic_load_explicit(&lock->both, memory_order_relaxed);
  const uint32_t next = (uint32_t)both, serving = (uint32_t)(both >> 32);
  if (next != serving) return false;
  const uint64_t taken = (uint64_t)serving << 32 | (uint32_t)(next + 1);
  return atomic_compare_exchange_strong_explicit(&lock->both, &both, taken, memory_order_acquire, memory_order_relaxed);
}

void release(struct ticket_lock *lock) {
  const uint32_t served = atomic_load_explicit(&lock->serving, memory_order_relaxed);
  atomic_store_explicit(&lock->serving, served + 1, memory_order_release);
}
