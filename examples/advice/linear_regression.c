// Fits a line to points: each of four threads sums up its part of them.
//
// The case: linear_regression of the Phoenix benchmarks, where each thread keeps its sums in its element of an array from
// malloc. An element is as long as a line, but the array does not begin at a line, so each element shares a line with the next
// one. The flag is -O1 because gcc keeps the sums in registers with -O2. CURED: the array is aligned.
//
// published: +1207 % Liu et al., PREDATOR (PPoPP 2014), table 1
// flags: -O1
// expect: layout regression
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4, points_each = 2000 };

struct point {
  signed char x, y;
};

struct regression {
  pthread_t thread;
  const struct point* points;
  int count;
  long long sx, sy, sxx, syy, sxy;
};

static void* sum_up(void* argument) {
  struct regression* mine = argument;
  for (int i = 0; i < mine->count; i++) {
    mine->sx += mine->points[i].x;
    mine->sxx += mine->points[i].x * mine->points[i].x;
    mine->sy += mine->points[i].y;
    mine->syy += mine->points[i].y * mine->points[i].y;
    mine->sxy += mine->points[i].x * mine->points[i].y;
  }
  return NULL;
}

static struct regression* allocate(void) {
#ifdef CURED
  return aligned_alloc(64, threads * sizeof(struct regression));
#else
  return malloc(threads * sizeof(struct regression));
#endif
}

int main(void) {
  struct regression* parts = allocate();
  struct point* points = malloc(threads * points_each * sizeof *points);
  if (!parts || !points) return perror("linear_regression"), 1;
  unsigned random = 1;
  for (int i = 0; i < threads * points_each; i++) {
    random = random * 1664525u + 1013904223u;
    points[i].x = i % 100;
    points[i].y = i % 100 / 2 + (random >> 28);
  }

  for (int i = 0; i < threads; i++) {
    parts[i] = (struct regression){.points = points + i * points_each, .count = points_each};
    pthread_create(&parts[i].thread, NULL, sum_up, &parts[i]);
  }
  long long n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(parts[i].thread, NULL);
    n += parts[i].count;
    sx += parts[i].sx;
    sy += parts[i].sy;
    sxx += parts[i].sxx;
    sxy += parts[i].sxy;
  }
  const double slope = (double)(n * sxy - sx * sy) / (double)(n * sxx - sx * sx);
  printf("slope %.3f\n", slope);
  free(points);
  free(parts);
  return slope > 0.4 && slope < 0.6 ? 0 : 1;
}
