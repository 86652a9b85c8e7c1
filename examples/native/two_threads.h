// Two threads that begin together; each calls rounds(its number, N), with N from the command line. The program prints the
// nanoseconds of one round: from the begin of both to the end of both, without the program's own begin and end.
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void rounds(long me, long number);

static pthread_barrier_t begin;
static long wanted;

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * now.tv_sec + now.tv_nsec;
}

static void* run(void* number) {
  pthread_barrier_wait(&begin);
  rounds((long)number, wanted);
  return NULL;
}

int main(int arguments, char** argument) {
  wanted = arguments > 1 ? atol(argument[1]) : 1000;
  pthread_t other;
  pthread_barrier_init(&begin, NULL, 2);
  pthread_create(&other, NULL, run, (void*)1);
  pthread_barrier_wait(&begin);
  const double before = nanoseconds();
  rounds(0, wanted);
  pthread_join(other, NULL);
  printf("%.2f\n", (nanoseconds() - before) / wanted);
  return 0;
}

// Computes in registers for about this many nanoseconds, three a step.
static inline unsigned long compute(unsigned long x, long steps) {
  for (long i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));  // or the compiler would take several steps at once
  }
  return x;
}
