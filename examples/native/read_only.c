// Both threads read a constant table. CURED: each has its own copy.
//
// cure: none
#include <stdalign.h>

#include "two_threads.h"

enum { size = 1024 };

static alignas(64) volatile unsigned char table[2][size] = {{1, 2, 3, 5, 7, 11, 13}, {1, 2, 3, 5, 7, 11, 13}};
static struct {
  alignas(64) unsigned long result;
} results[2];

static void rounds(long me, long number) {
#ifdef CURED
  const volatile unsigned char* mine = table[me];
#else
  const volatile unsigned char* mine = table[0];
#endif
  unsigned long x = me;
  for (long i = 0; i < number; i++) {
    x = compute(x, 60);
    x += mine[x % size];
  }
  results[me].result = x;
}
