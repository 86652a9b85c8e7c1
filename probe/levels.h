// Measures load-to-use latency by chasing pointers through rings of lines in random order. There is a ring size for each cache
// level and sizes in between. CPUs of each node also chase through rings in each node's memory.
#pragma once

#include "memory.h"
#include "plan.h"

enum { kMostLevels = 256, kLevelSamples = 45, kLeastChaseBytes = 8 << 10 };

struct level {
  char name[8];  // "L1", "memory"; "": a size in between, for the curve
  long size_kib;
  int cpu_node, memory_node;  // the system's numbers
  struct summary ns;
};

struct levels {
  struct level row[kMostLevels];
  int count;
  bool huge_pages;
};

enum { kAttempts = 5 };

// Each sample continues where the previous one ended, so no line is loaded again before the end of the round.
static inline struct summary time_samples(const struct plan* plan, void*** at, size_t loads) {
  double ns[kLevelSamples];
  const int samples = plan->quick ? kLevelSamples / 3 : kLevelSamples;
  for (int i = 0; i < samples; ++i) {
    const double begin = now_ns();
    *at = chase(*at, loads);
    ns[i] = (now_ns() - begin - plan->clock_overhead_ns) / (double)loads;
  }
  return summarise(ns, samples);
}

// Warms the caches with one round. A ring larger than the caches needs only part of a round: it was written in order, so its
// first lines have been evicted. Other programs may disturb a shared cache, so this returns the attempt with the smallest
// spread.
static inline struct summary time_chase(const struct plan* plan, void** ring, size_t lines) {
  const size_t loads = 3000;  // takes much less than a scheduler's time slice
  const bool in_caches = lines * kLineBytes / 1024 <= 2 * (size_t)largest_cache_kib(plan->host);
  void** at = chase(ring, in_caches || lines < 16000 ? lines / 8 * 8 : 16000);
  struct summary best = time_samples(plan, &at, loads);
  for (int i = 1; i < kAttempts && spread(&best) > 0.05; ++i) {
    const struct summary next = time_samples(plan, &at, loads);
    if (spread(&next) < spread(&best)) best = next;
  }
  __asm__ volatile("" : : "r"(at));
  return best;
}

static inline void add_level(struct plan* plan, struct levels* levels, struct block* block, const char* name, long size_kib,
                             int cpu_node, int memory_node) {
  if (levels->count == kMostLevels) return;
  const size_t lines = (size_t)size_kib * 1024 / kLineBytes;
  struct level* row = &levels->row[levels->count++];
  *row = (struct level){.size_kib = size_kib, .cpu_node = cpu_node, .memory_node = memory_node};
  snprintf(row->name, sizeof row->name, "%s", name);
  row->ns = time_chase(plan, make_ring(block->data, lines, kLineBytes, &plan->random), lines);
}

// Returns a ring size for cache level i: three times the next smaller cache, so that hardly any load hits there. It is at most
// three quarters of level i, because other programs use part of a shared cache.
static inline long size_for_level(const struct host* host, int i) {
  const long size = host->cache[i].size_kib;
  if (i == 0) return size / 2;
  const long nearer = host->cache[i - 1].size_kib;
  return 3 * nearer <= size / 4 * 3 ? 3 * nearer : size / 4 * 3;
}

// Four times the largest cache, within 64 to 512 MiB (quick: 256), and at most a quarter of the free memory.
static inline long memory_ring_kib(const struct plan* plan) {
  long size = 4 * largest_cache_kib(plan->host);
  const long least = 64 << 10, most = plan->quick ? 256 << 10 : 512 << 10, room = available_memory_kib() / 4;
  if (size < least) size = least;
  if (size > most) size = most;
  return size > room ? room : size;
}

static inline void measure_caches(struct plan* plan, struct levels* levels, struct block* block, int node, long memory_kib) {
  struct host* host = plan->host;
  for (int i = 0; i < host->caches; ++i) {
    char name[8];
    snprintf(name, sizeof name, "L%d", host->cache[i].level % 10);
    const long size = size_for_level(host, i);
    if (size > memory_kib) continue;
    add_level(plan, levels, block, name, size, node, node);
  }
  for (long size = kLeastChaseBytes >> 10; size < memory_kib; size *= 2) {
    show_progress(plan, "load to use: KiB", (int)size, (int)memory_kib);
    add_level(plan, levels, block, "", size, node, node);
  }
}

static inline void measure_levels(struct plan* plan, struct levels* levels) {
  struct host* host = plan->host;
  const long memory_kib = memory_ring_kib(plan);
  if (memory_kib < 2 * largest_cache_kib(host)) {
    warn(host, "too little memory is free for a ring of %ld MiB: what is called memory is in part a cache",
         largest_cache_kib(host) / 512);
  }
  int done = 0;
  for (int m = 0; m < host->memory_nodes; ++m) {
    const int node = host->memory_node[m];
    struct block block = allocate_on(host, (size_t)memory_kib * 1024, node);
    if (m == 0) levels->huge_pages = is_in_huge_pages(&block);
    if (node == host->node[0]) {
      pin_to(host->cpu[0]);
      measure_caches(plan, levels, &block, node, memory_kib);
    }
    const size_t lines = (size_t)memory_kib * 1024 / kLineBytes;
    void** ring = make_ring(block.data, lines, kLineBytes, &plan->random);
    for (int i = 0; i < host->cpus; ++i) {
      if (cpu_of_node(host, host->node[i]) != i || levels->count == kMostLevels) continue;
      show_progress(plan, "load to use: memory, nodes", done++, host->memory_nodes);
      pin_to(host->cpu[i]);
      struct level* row = &levels->row[levels->count++];
      *row = (struct level){"memory", memory_kib, host->node[i], node, time_chase(plan, ring, lines)};
    }
    free_block(&block);
  }
  if (!levels->huge_pages) warn(host, "the system gave no huge pages: latencies of large sizes have TLB misses in them");
  end_progress(plan);
}
