// Two threads fill a ring with numbers, two empty it. Each cell has a sequence number: may it be filled, or emptied?
//
// The case: cells of 16 bytes in the mpmcQueue of yse-soundengine, four of them in a line. CURED: each cell has its own line.
//
// published: +7.2 % yvanvds/yse-soundengine pull request 296: four producers, four consumers, 24 cores
// why: in the replay one miss brings the next three cells of the packed ring, which saves more than sharing the line costs
// expect: layout cell
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { pairs = 2, numbers_each = 1500, cells = 1024 };

struct cell {
  OWN_LINE atomic_ulong sequence;
  unsigned long number;
};

static alignas(64) struct cell ring[cells];
static alignas(64) atomic_ulong put_at;
static alignas(64) atomic_ulong take_at;

static struct cell* claim(atomic_ulong* at, unsigned long ahead, unsigned long* position) {
  unsigned long now = atomic_load_explicit(at, memory_order_relaxed);
  for (;;) {
    struct cell* cell = &ring[now % cells];
    const long behind = (long)(atomic_load_explicit(&cell->sequence, memory_order_acquire) - (now + ahead));
    if (behind == 0 && atomic_compare_exchange_weak_explicit(at, &now, now + 1, memory_order_relaxed, memory_order_relaxed)) {
      *position = now;
      return cell;
    }
    if (behind < 0) sched_yield();
    if (behind != 0) now = atomic_load_explicit(at, memory_order_relaxed);
  }
}

static void* produce(void* unused) {
  unsigned long position;
  for (unsigned long i = 0; i < numbers_each; i++) {
    struct cell* cell = claim(&put_at, 0, &position);
    cell->number = i;
    atomic_store_explicit(&cell->sequence, position + 1, memory_order_release);
  }
  return unused;
}

static void* consume(void* sum) {
  unsigned long position, all = 0;
  for (int i = 0; i < numbers_each; i++) {
    struct cell* cell = claim(&take_at, 1, &position);
    all += cell->number;
    atomic_store_explicit(&cell->sequence, position + cells, memory_order_release);
  }
  *(unsigned long*)sum = all;
  return NULL;
}

int main(void) {
  for (unsigned long i = 0; i < cells; i++) atomic_init(&ring[i].sequence, i);
  pthread_t producer[pairs], consumer[pairs];
  unsigned long sums[pairs], all = 0;
  for (int i = 0; i < pairs; i++) {
    pthread_create(&producer[i], NULL, produce, NULL);
    pthread_create(&consumer[i], NULL, consume, &sums[i]);
  }
  for (int i = 0; i < pairs; i++) {
    pthread_join(producer[i], NULL);
    pthread_join(consumer[i], NULL);
    all += sums[i];
  }
  printf("sum %lu\n", all);
  return all == (unsigned long)pairs * numbers_each * (numbers_each - 1) / 2 ? 0 : 1;
}
