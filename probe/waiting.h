// Measures what CPUs lose when they wait for each other: on 2, 4 and all CPUs, near and far apart. Chooses the CPUs, too.
#pragma once

#include "contended.h"
#include "core_to_core.h"
#include "shared_store.h"
#include "siblings.h"

enum { kMostWaitingRows = 64, kFew = 4 };

struct waiting_row {
  const char* operation;
  int between_cycles, count;
  const int* cpus;  // the system's CPU numbers; the line's home is the first CPU's node
  struct summary ns;
  bool increments;
  double fails;
};

struct waiting {
  struct waiting_row row[kMostWaitingRows];
  int rows;
};

struct seen_from_first {
  const struct host* host;
  const struct matrix* matrix;
};

// Whether CPU index a is nearer to CPU 0 than b is. Siblings of CPU 0 count as the farthest.
static inline bool is_nearer(const struct seen_from_first* seen, int a, int b) {
  const int class_a = distance_class(seen->host, 0, a), class_b = distance_class(seen->host, 0, b);
  if ((class_a == 0) != (class_b == 0)) return class_b == 0;
  if (class_a != class_b && (class_a < 4 || class_b < 4)) return class_a < class_b;
  const double ns_a = seen->matrix->of[a].median, ns_b = seen->matrix->of[b].median;
  return ns_a != ns_b ? ns_a < ns_b : a < b;
}

// Returns CPU indexes: CPU 0, then the others from near to far. Sets `no_siblings` to the number of CPUs, except CPU 0, that
// are not its siblings.
static inline int* cpus_by_distance(const struct host* host, const struct matrix* matrix, int* no_siblings) {
  const struct seen_from_first seen = {host, matrix};
  int* order = calloc((size_t)host->cpus, sizeof *order);
  if (!order) give_up("linebounce-probe");
  for (int i = 0; i < host->cpus; ++i) {
    int place = i;
    for (; place > 1 && is_nearer(&seen, i, order[place - 1]); --place) order[place] = order[place - 1];
    order[place] = i;
  }
  *no_siblings = 0;
  for (int i = 1; i < host->cpus; ++i) *no_siblings += host->core[order[i]] != host->core[0];
  return order;
}

// Returns a CPU that shares the last-level cache with `cpu` but is on another core; -1 if there is none.
static inline int neighbour_of(const struct host* host, int cpu) {
  for (int i = 1; i < host->cpus; ++i) {
    if (i != cpu && host->group[i] == host->group[cpu] && host->core[i] != host->core[cpu]) return i;
  }
  return -1;
}

static inline struct waiting_row* add_row(struct waiting* waiting, const char* operation, int between_cycles, const int* cpus,
                                          int count) {
  if (waiting->rows == kMostWaitingRows) return NULL;
  struct waiting_row* row = &waiting->row[waiting->rows++];
  *row = (struct waiting_row){.operation = operation, .between_cycles = between_cycles, .count = count, .cpus = cpus};
  return row;
}

static inline void add_contended(struct plan* plan, struct waiting* waiting, const int* cpus, int count) {
  static const int between[] = {0, 50, 150, 400};
  for (enum contended_operation operation = 0; operation < kContendedOperations; ++operation) {
    for (size_t i = 0; i < sizeof between / sizeof *between; ++i) {
      if (i > 0 && operation == kContendedStore) break;
      struct waiting_row* row = add_row(waiting, contended_names[operation], between[i], cpus, count);
      if (!row) return;
      const struct contended_cost cost =
          measure_contention(plan, operation, between[i], cpus, count, node_of_memory(plan->host, 0));
      row->ns = cost.ns;
      row->fails = cost.fails;
      row->increments = operation == kContendedIncrement;
    }
  }
}

static inline void add_shared(struct plan* plan, struct waiting* waiting, const int* cpus, int count) {
  struct waiting_row* row = add_row(waiting, "shared_store", 0, cpus, count);
  if (row) row->ns = measure_shared_store(plan, cpus, count, node_of_memory(plan->host, 0));
}

static inline void add_siblings(struct plan* plan, struct waiting* waiting) {
  const struct host* host = plan->host;
  static int cpus[2];
  for (int i = 1; i < host->cpus; ++i) {
    if (host->core[i] != host->core[0]) continue;
    cpus[0] = host->cpu[0], cpus[1] = host->cpu[i];
    for (enum sibling other = 0; other < kSiblings; ++other) {
      struct waiting_row* row = add_row(waiting, sibling_names[other], 0, cpus, other == kAlone ? 1 : 2);
      if (row) row->ns = measure_sibling(plan, other, cpus);
    }
    return;
  }
}

// Returns the system's numbers of the first `count` CPUs of `order`. Never freed, because rows keep pointers to it.
static inline int* chosen(const struct host* host, const int* order, int count) {
  int* cpus = calloc((size_t)count, sizeof *cpus);
  if (!cpus) give_up("linebounce-probe");
  for (int i = 0; i < count; ++i) cpus[i] = host->cpu[order[i]];
  return cpus;
}

static inline void measure_waiting(struct plan* plan, const struct matrix* matrix, struct waiting* waiting) {
  const struct host* host = plan->host;
  int no_siblings;
  int* order = cpus_by_distance(host, matrix, &no_siblings);
  const int few = no_siblings + 1 < kFew ? no_siblings + 1 : kFew, farthest = order[no_siblings];
  const bool has_far = no_siblings > 1 && distance_class(host, 0, farthest) != distance_class(host, 0, order[1]);
  const int far_pair[2] = {0, farthest}, beside = has_far ? neighbour_of(host, farthest) : -1;
  const int two_and_two[kFew] = {0, order[1], farthest, beside};
  const int sizes[] = {no_siblings > 0 ? 2 : 0, few > 2 ? few : 0, host->cpus > few ? host->cpus : 0};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    show_progress(plan, "waiting: CPUs", sizes[i], host->cpus);
    if (sizes[i] == 0) continue;
    const int* cpus = chosen(host, order, sizes[i]);
    add_shared(plan, waiting, cpus, sizes[i]);
    add_contended(plan, waiting, cpus, sizes[i]);
  }
  if (has_far) {
    const int* cpus = chosen(host, far_pair, 2);
    add_shared(plan, waiting, cpus, 2);
    add_contended(plan, waiting, cpus, 2);
  }
  if (has_far && beside >= 0 && beside != order[1]) add_contended(plan, waiting, chosen(host, two_and_two, kFew), kFew);
  add_siblings(plan, waiting);
  free(order);
  end_progress(plan);
}
