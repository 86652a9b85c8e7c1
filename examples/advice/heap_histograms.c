// Sorts temperatures into ten classes. Each of four threads fills its own histogram. The histograms are the rows of one
// heap block.
//
// The case: per-thread statistics in an array from calloc, with rows of 40 bytes on lines of 64, as in histogram of the Phoenix
// benchmarks. CURED: each row fills one line, and the block begins at a line.
//
// published: +46 % Liu et al., PREDATOR (PPoPP 2014), table 1: histogram
// expect: layout new_histograms
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CURED
enum { row = 16 };
#else
enum { row = 10 };
#endif

enum { threads = 4, classes = 10, values_each = 4000 };

static int* histograms;
static unsigned char values[threads][values_each];

static void* fill(void* number) {
  int* mine = histograms + (long)number * row;
  const unsigned char* value = values[(long)number];
  for (int i = 0; i < values_each; i++) mine[value[i] * classes / 256]++;
  return NULL;
}

static int* new_histograms(void) {
#ifdef CURED
  int* all = aligned_alloc(64, threads * row * sizeof(int));
  if (all) memset(all, 0, threads * row * sizeof(int));
#else
  int* all = calloc(threads * row, sizeof(int));
#endif
  if (!all) perror("heap_histograms"), exit(1);
  return all;
}

int main(void) {
  histograms = new_histograms();
  unsigned random = 1;
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < values_each; j++) {
      random = random * 1664525u + 1013904223u;
      values[i][j] = random >> 24;
    }

  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, fill, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  int counted = 0;
  for (int i = 0; i < classes; i++) {
    int in_class = 0;
    for (int j = 0; j < threads; j++) in_class += histograms[j * row + i];
    printf("%d ", in_class);
    counted += in_class;
  }
  printf("\n");
  free(histograms);
  return counted == threads * values_each ? 0 : 1;
}
