// Measures the hand-off time of a ticket lock: all CPUs acquire and release one lock, with no other work.
#pragma once

#include "plan.h"
#include "processor.h"

enum { kLockBatch = 400, kLockSamples = 100 };

struct locked {
  _Alignas(256) _Atomic uint32_t next;
  _Atomic uint32_t serving;
  // Only the lock's holder accesses the following members.
  _Alignas(256) uint64_t count;  // the protected word, on a line of its own
  _Alignas(256) double began_ns;
  double deadline_ns;
  uint64_t batch, *last_seen;  // `last_seen`: by member, the last batch in which it held the lock
  int cpus, present, wanted, samples;
  bool is_over;
  double ns[kLockSamples];
};

// Discards a batch in which some CPU never held the lock: while a CPU is preempted, hand-offs are faster than with all CPUs.
// The first batch is a warm-up.
static inline void end_batch(struct locked* lock) {
  const double now = now_ns();
  if (lock->present == lock->cpus && lock->batch > 1) lock->ns[lock->samples++] = (now - lock->began_ns) / kLockBatch;
  lock->is_over = lock->samples == lock->wanted || now > lock->deadline_ns;
  lock->began_ns = now;
  lock->present = 0;
  ++lock->batch;
}

static inline void run_lock(int member, void* argument) {
  struct locked* lock = argument;
  for (bool done = false; !done;) {
    const uint32_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&lock->serving, memory_order_acquire) != mine) pause_spin();
    if (!lock->is_over && lock->count++ % kLockBatch == 0) end_batch(lock);
    if (lock->last_seen[member] != lock->batch) {
      lock->last_seen[member] = lock->batch;
      ++lock->present;
    }
    done = lock->is_over;
    atomic_store_explicit(&lock->serving, mine + 1, memory_order_release);
  }
}

static inline struct summary measure_lock(struct plan* plan, int cpus) {
  struct locked* lock = aligned_alloc(256, sizeof *lock);
  uint64_t* last_seen = calloc((size_t)cpus, sizeof *last_seen);
  if (!lock || !last_seen) give_up("linebounce-probe");
  memset(lock, 0, sizeof *lock);
  lock->last_seen = last_seen;
  lock->cpus = cpus;
  lock->wanted = plan->quick ? kLockSamples / 4 : kLockSamples;
  lock->deadline_ns = now_ns() + (plan->quick ? 2e9 : 4e9);
  run_team(cpus, plan->host->cpu, run_lock, lock);
  const struct summary found = summarise(lock->ns, lock->samples);
  free(last_seen);
  free(lock);
  return found;
}
