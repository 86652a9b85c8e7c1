// Sorts four parts of a sequence, one for each thread, and leaves each part's smallest and largest number in an array.
//
// No cure: the results of all threads are in one line, but each thread writes there only once, at its end. A barrier keeps
// threads from reusing memory that another thread has freed; a recording would show that as sharing.
//
// expect: bottleneck computation
#define _POSIX_C_SOURCE 200809L  // for barriers
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4, numbers_each = 600 };

static struct { int smallest, largest; } results[threads];

static pthread_barrier_t allocated;

static void sort(int* numbers, int count) {
  for (int gap = count / 2; gap > 0; gap /= 2)
    for (int i = gap; i < count; i++) {
      const int moved = numbers[i];
      int at = i;
      for (; at >= gap && numbers[at - gap] > moved; at -= gap) numbers[at] = numbers[at - gap];
      numbers[at] = moved;
    }
}

static void* sort_part(void* number) {
  int* numbers = malloc(numbers_each * sizeof *numbers);
  if (!numbers) abort();
  pthread_barrier_wait(&allocated);
  unsigned random = (unsigned)(long)number + 1;
  for (int i = 0; i < numbers_each; i++) {
    random = random * 1664525u + 1013904223u;
    numbers[i] = (int)(random >> 8);
  }
  sort(numbers, numbers_each);
  results[(long)number].smallest = numbers[0];
  results[(long)number].largest = numbers[numbers_each - 1];
  free(numbers);
  return NULL;
}

int main(void) {
  pthread_t thread[threads];
  pthread_barrier_init(&allocated, NULL, threads);
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, sort_part, (void*)i);
  int sorted = 1;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    printf("%d to %d\n", results[i].smallest, results[i].largest);
    sorted &= results[i].smallest <= results[i].largest;
  }
  return sorted ? 0 : 1;
}
