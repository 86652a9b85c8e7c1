// Eight threads take numbers from one sequence, and write each into a log, under a spin lock of the program's own.
//
// The case: a test-and-set lock under load. Waiting threads write its line all the time, so the owner has to wait for
// the line, too, before it can release the lock. The oldest cure is to read the lock before each attempt (Rudolph and Segall
// 1984). Others wait longer after each failure, or queue (Anderson 1990, Mellor-Crummey and Scott 1991). CURED: waiters read
// first.
//
// expect: lock gate
#define _POSIX_C_SOURCE 200809L  // for barriers

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>

enum { threads = 8, numbers_each = 400, tries = 20, turn = 50 };

static alignas(64) atomic_int gate;

static int got_in(void) {
#ifdef CURED
  if (atomic_load_explicit(&gate, memory_order_relaxed) != 0) return 0;
#endif
  return atomic_exchange_explicit(&gate, 1, memory_order_acquire) == 0;
}

static void enter(void) {
  for (int i = 1; !got_in(); i++)
    if (i % tries == 0) sched_yield();
}

static void leave(void) {
  atomic_store_explicit(&gate, 0, memory_order_release);
}

static alignas(64) struct {
  unsigned next;
  unsigned log[threads * numbers_each];
} sequence;

static pthread_barrier_t all_there;

static void* take_numbers(void* unused) {
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < numbers_each; i++) {
    enter();
    sequence.log[sequence.next] = sequence.next * 3;
    // The owner gives up the processor, as it would at its time slice's end in longer runs.
    if (++sequence.next % turn == 0) sched_yield();
    leave();
  }
  return unused;
}

int main(void) {
  pthread_barrier_init(&all_there, NULL, threads);
  pthread_t thread[threads];
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, take_numbers, NULL);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  printf("%u numbers, the last %u\n", sequence.next, sequence.log[sequence.next - 1]);
  return sequence.next == threads * numbers_each ? 0 : 1;
}
