// Sums up what points would save by moving to another centre. Each of four threads has a row with a sum for each centre.
//
// The case: streamcluster of the PARSEC benchmarks. It pads its rows in work_mem, but to a CACHE_LINE of 32 bytes, and malloc
// does not begin the first row at a line. CURED: rows are padded to 64 bytes, and aligned.
//
// published: +7.5 % Liu et al., PREDATOR (PPoPP 2014), table 1
// expect: layout new_work_mem
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CURED
enum { cache_line = 64 };
#else
enum { cache_line = 32 };
#endif

enum { threads = 4, points_each = 3000, centres = 9, doubles_in_line = cache_line / sizeof(double) };
// A row has a sum for each centre, and two more.
enum { stride = (centres + 2 + doubles_in_line - 1) / doubles_in_line * doubles_in_line };

static double* work_mem;
static float costs[threads][points_each];

static void* gains(void* number) {
  const float* cost = costs[(long)number];
  double* mine = work_mem + (long)number * stride;
  memset(mine, 0, stride * sizeof *mine);
  for (int i = 0; i < points_each; i++) {
    const int centre = i % centres;
    if (cost[i] < 0.5f) {
      mine[centre] += cost[i];
    } else {
      mine[centres] += cost[i] - 0.5;
    }
  }
  return NULL;
}

static double* new_work_mem(void) {
  const size_t bytes = threads * stride * sizeof(double);
  double* memory = cache_line == 64 ? aligned_alloc(64, bytes) : malloc(bytes);
  if (!memory) perror("streamcluster"), exit(1);
  return memory;
}

int main(void) {
  work_mem = new_work_mem();
  unsigned random = 1;
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < points_each; j++) {
      random = random * 1664525u + 1013904223u;
      costs[i][j] = (float)(random >> 8) / (1 << 24);
    }

  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, gains, (void*)i);
  double all = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    for (int j = 0; j <= centres; j++) all += work_mem[i * stride + j];
  }
  printf("%.0f\n", all);
  free(work_mem);
  return all > 0 ? 0 : 1;
}
