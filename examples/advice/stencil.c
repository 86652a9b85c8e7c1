// Heat spreads over a plate: four threads, each with its own rows, which meet at a barrier after each step.
//
// No cure: a thread must read its neighbours' outermost rows, and each row begins a line.
//
// expect: bottleneck computation
#define _POSIX_C_SOURCE 200809L  // for barriers

#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>

enum { threads = 4, rows_each = 8, rows = threads * rows_each, columns = 32, steps = 6 };

// The plate's edge is cold. One array has the heat of even steps, the other that of odd ones.
static alignas(64) float plates[2][rows + 2][columns];
static alignas(64) pthread_barrier_t step_done;

static void* spread(void* number) {
  const int first = 1 + (int)(long)number * rows_each;
  for (int step = 0; step < steps; step++) {
    float(*from)[columns] = plates[step % 2];
    float(*to)[columns] = plates[1 - step % 2];
    for (int row = first; row < first + rows_each; row++)
      for (int column = 1; column < columns - 1; column++)
        to[row][column] = (from[row - 1][column] + from[row + 1][column] + from[row][column - 1] + from[row][column + 1]) / 4;
    pthread_barrier_wait(&step_done);
  }
  return NULL;
}

int main(void) {
  for (int column = 1; column < columns - 1; column++) plates[0][rows / 2][column] = 100;
  pthread_barrier_init(&step_done, NULL, threads);
  pthread_t thread[threads];
  for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, spread, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  double heat = 0;
  for (int row = 1; row <= rows; row++)
    for (int column = 0; column < columns; column++) heat += plates[steps % 2][row][column];
  printf("%.1f\n", heat);
  return heat > 0 && heat < 100 * columns ? 0 : 1;
}
