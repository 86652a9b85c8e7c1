// Uses three parts of Concurrency Kit in inline assembly: a spin lock, a counter, and a ring with many producers.
// Four threads add to a sum under the lock, count, and put numbers into the ring, which the main thread empties.
// Usage: ck [TIMES]
// -DPADDED: the ring begins with a line.

#include <ck_pr.h>
#include <ck_ring.h>
#include <ck_spinlock.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 4, kRounds = 500, kSlots = 256 };

static struct {
  ck_spinlock_fas_t lock;
  uint64_t sum;
} account = {CK_SPINLOCK_FAS_INITIALIZER, 0};
static uint64_t count;
static uintptr_t rounds = kRounds;
#ifdef PADDED
__attribute__((aligned(64)))
#endif
static ck_ring_t ring;
static ck_ring_buffer_t slots[kSlots];

static void* produce(void* number) {
  for (uintptr_t i = 1; i <= rounds; i++) {
    while (!ck_spinlock_fas_trylock(&account.lock)) sched_yield();
    account.sum += i;
    ck_spinlock_fas_unlock(&account.lock);
    ck_pr_inc_64(&count);
    while (!ck_ring_enqueue_mpsc(&ring, slots, (void*)(i + (uintptr_t)number))) sched_yield();
  }
  return NULL;
}

int main(int arguments, char** argument) {
  pthread_t threads[kThreads];
  uint64_t taken = 0;
  if (arguments > 1) rounds *= (uintptr_t)atoi(argument[1]);
  ck_ring_init(&ring, kSlots);
  for (uintptr_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, produce, (void*)i);
  for (uintptr_t i = 0; i < kThreads * rounds; i++) {
    void* number = NULL;
    while (!ck_ring_dequeue_mpsc(&ring, slots, &number)) sched_yield();
    taken += (uintptr_t)number;
  }
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  printf("sum %llu, count %llu, taken %llu\n", (unsigned long long)account.sum, (unsigned long long)count,
         (unsigned long long)taken);
  return 0;
}
