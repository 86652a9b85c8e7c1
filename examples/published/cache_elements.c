// Four threads look up elements of a cache by random keys, and mark each as used unless it was marked since the last sweep.
//
// The case: the series cache of promscale, whose elements were padded from 48 to 64 bytes against false sharing. Its benchmark
// showed no difference. CURED: padded.
//
// published: 0 % timescale/promscale issue 1717: almost no difference, or a single-digit percentage
// expect: bottleneck computation or cache
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { threads = 4, elements = 512, lookups_each = 4000 };

struct element {
  OWN_LINE unsigned long key;
  unsigned long value, next, size;
  atomic_uint used;
};

static alignas(64) struct element cache[elements];

static void* look_up(void* sum) {
  unsigned random = (unsigned)(unsigned long)sum;
  unsigned long all = 0;
  for (int i = 0; i < lookups_each; i++) {
    random = random * 1664525u + 1013904223u;
    struct element* element = &cache[random >> 23];
    if (element->key != random >> 23) abort();
    all += element->value;
    if (atomic_load_explicit(&element->used, memory_order_relaxed) == 0)
      atomic_store_explicit(&element->used, 1, memory_order_relaxed);
  }
  *(unsigned long*)sum = all;
  return NULL;
}

int main(void) {
  for (unsigned long i = 0; i < elements; i++) cache[i].key = i, cache[i].value = 1;
  pthread_t thread[threads];
  unsigned long sums[threads], all = 0;
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, look_up, &sums[i]);
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all += sums[i];
  }
  printf("%lu found\n", all);
  return all == (unsigned long)threads * lookups_each ? 0 : 1;
}
