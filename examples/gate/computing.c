// A program that computes: each of four threads adds to a shared counter once in 10 to 50 us, as -DTERMS says. What -DCHECKED,
// -DMEMBER, -DSWAPPED and -DMORE change is none of its sharing.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4, rounds = 400 };
#ifndef TERMS
#define TERMS 5000
#endif

static _Atomic long items;

struct range {
#ifdef SWAPPED
  double step, begin;
#else
  double begin, step;
#endif
#ifdef MEMBER
  double end;
#endif
};

static double sum_of(const struct range* range) {
  double sum = 0;
#ifdef MORE
  const int terms = TERMS + TERMS / 50;
#else
  const int terms = TERMS;
#endif
  for (int i = 0; i < terms; i++) sum = sum * 0.999999 + range->begin + i * range->step;
  return sum;
}

static void* run(void* number) {
  struct range* range = malloc(sizeof *range);
  range->begin = (double)(long)number;
  range->step = 0.5;
  double sum = 0;
  for (int i = 0; i < rounds; i++) {
    range->begin += 1;
    sum += sum_of(range);
#ifdef CHECKED
    if (sum < 0) abort();
#endif
    atomic_fetch_add(&items, 1);
  }
  free(range);
  return sum > 0 ? number : NULL;
}

int main(void) {
  pthread_t all[threads];
  for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, run, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  printf("%ld items\n", items);
}
