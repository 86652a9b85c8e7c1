// Settings that all measurements share, the progress display, and the order in which pairs of CPUs are measured.
#pragma once

#include "host.h"
#include "statistics.h"

struct plan {
  struct host* host;
  bool quick;
  double clock_overhead_ns;  // cost of reading the clock at both ends of an interval
  unsigned long long random;
  bool on_terminal;
};

static inline void show_progress(const struct plan* plan, const char* what, int done, int all) {
  static double shown_ns;
  if (!plan->on_terminal || (done > 0 && done < all && now_ns() - shown_ns < 1e8)) return;
  shown_ns = now_ns();
  fprintf(stderr, "\r\033[K%s: %d of %d", what, done, all);
}

static inline void end_progress(const struct plan* plan) {
  if (plan->on_terminal) fputs("\r\033[K", stderr);
}

// Returns the same number for all pairs of CPUs that, by the system's topology, should have the same latency. Nearer pairs have
// smaller numbers.
static inline int distance_class(const struct host* host, int a, int b) {
  const int low = host->node[a] < host->node[b] ? host->node[a] : host->node[b];
  const int high = host->node[a] < host->node[b] ? host->node[b] : host->node[a];
  if (host->core[a] == host->core[b]) return 0;
  if (host->group[a] == host->group[b]) return 1;
  if (low == high) return host->package[a] == host->package[b] ? 2 : 3;
  return 4 + low * kMostCpus + high;
}

struct pair {
  int a, b, distance, rank;  // `rank`: position within its distance class, from 0
};

static inline int compare_ranks(const void* x, const void* y) {
  const struct pair *a = x, *b = y;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  return a->a != b->a ? a->a - b->a : a->b - b->b;
}

static inline int compare_classes(const void* x, const void* y) {
  const struct pair *a = x, *b = y;
  return a->distance != b->distance ? (a->distance < b->distance ? -1 : 1) : a->rank - b->rank;
}

// Returns all pairs in an order that takes one random pair of each class in turn. If time runs out, each class has been
// sampled.
static inline struct pair* shuffled_pairs(struct plan* plan, int* count) {
  const struct host* host = plan->host;
  *count = host->cpus * (host->cpus - 1) / 2;
  struct pair* pairs = calloc((size_t)*count, sizeof *pairs);
  if (!pairs) give_up("linebounce-probe");
  int n = 0;
  for (int a = 0; a < host->cpus; ++a) {
    for (int b = 0; b < a; ++b) pairs[n++] = (struct pair){a, b, distance_class(host, a, b), 0};
  }
  for (int i = n; i-- > 1;) {
    const size_t other = random_below(&plan->random, (size_t)i + 1);
    const struct pair kept = pairs[i];
    pairs[i] = pairs[other];
    pairs[other] = kept;
  }
  for (int i = 0; i < n; ++i) pairs[i].rank = i;
  qsort(pairs, (size_t)n, sizeof *pairs, compare_classes);
  for (int i = 0, first = 0; i < n; ++i) {
    if (pairs[i].distance != pairs[first].distance) first = i;
    pairs[i].rank = i - first;
  }
  qsort(pairs, (size_t)n, sizeof *pairs, compare_ranks);
  return pairs;
}
