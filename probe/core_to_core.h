// Measures the matrix of hand-off latencies. Two CPUs take turns at a compare-and-exchange on one word. Half a round trip is
// one hand-off of a modified line.
#pragma once

#include "memory.h"
#include "plan.h"

enum { kRounds = 100, kWarmRounds = 8, kMostSamples = 200, kWordBytes = 256 };

struct matrix {
  struct summary* of;  // [a * cpus + b], symmetric; repeats 0: not measured, the median of similar pairs
  int measured;
  bool sampled;
};

struct duel {
  char* homes[2];  // one word on the first CPU's node, and one on the second CPU's
  int samples;     // even samples use the first word, odd samples the second
  double* ns;
  double clock_overhead_ns;
};

static inline void play(_Atomic uint32_t* word, uint32_t from, uint32_t to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    uint32_t expected = from;
    while (!atomic_compare_exchange_strong(word, &expected, to)) expected = from;
  }
}

// Each sample uses another line, because a line's home within a socket depends on its address.
static inline void duel(int member, void* argument) {
  struct duel* duel = argument;
  for (int sample = 0; sample < duel->samples; ++sample) {
    char* line = duel->homes[sample % 2] + (size_t)sample * kWordBytes;
    _Atomic uint32_t* word = (_Atomic uint32_t*)line;
    const uint32_t mine = (uint32_t)member;
    play(word, mine, 1 - mine, kWarmRounds);
    const double begin = now_ns();
    play(word, mine, 1 - mine, kRounds);
    const double end = now_ns();
    if (member == 0) duel->ns[sample] = (end - begin - duel->clock_overhead_ns) / (2.0 * kRounds);
  }
}

static inline struct summary median_of_class(const struct matrix* matrix, const struct pair* pairs, int count, int cpus,
                                             int distance) {
  double* medians = calloc((size_t)count, sizeof *medians);
  if (!medians) give_up("linebounce-probe");
  int n = 0;
  for (int i = 0; i < count; ++i) {
    const struct summary* pair = &matrix->of[pairs[i].a * cpus + pairs[i].b];
    if (pairs[i].distance == distance && pair->repeats > 0) medians[n++] = pair->median;
  }
  struct summary all = summarise(medians, n);
  all.repeats = 0;
  free(medians);
  return all;
}

static inline struct matrix measure_matrix(struct plan* plan) {
  const struct host* host = plan->host;
  int count;
  struct pair* pairs = shuffled_pairs(plan, &count);
  const double budget_ns = plan->quick ? 6e9 : 60e9;
  const double a_sample_ns = 8e4;
  int samples = (int)(budget_ns / count / a_sample_ns);
  samples = samples > kMostSamples ? kMostSamples : samples < 10 ? 10 : samples / 2 * 2;
  struct matrix matrix = {calloc((size_t)(host->cpus * host->cpus), sizeof *matrix.of), 0, false};
  struct block* of_node = calloc((size_t)host->memory_nodes, sizeof *of_node);
  double ns[kMostSamples];
  if (!matrix.of || !of_node) give_up("linebounce-probe");
  for (int i = 0; i < host->memory_nodes; ++i) {
    of_node[i] = allocate_on(host, (size_t)kMostSamples * kWordBytes, host->memory_node[i]);
  }
  const double deadline = now_ns() + budget_ns;
  for (int i = 0; i < count; ++i) {
    show_progress(plan, "core to core: pair", i, count);
    if (now_ns() > deadline && pairs[i].rank > 0) break;
    struct duel game = {{of_node[0].data, of_node[0].data}, samples, ns, plan->clock_overhead_ns};
    const int cpus[2] = {host->cpu[pairs[i].a], host->cpu[pairs[i].b]};
    for (int node = 0; node < host->memory_nodes; ++node) {
      if (host->memory_node[node] == host->node[pairs[i].a]) game.homes[0] = of_node[node].data;
      if (host->memory_node[node] == host->node[pairs[i].b]) game.homes[1] = of_node[node].data;
    }
    for (int s = 0; s < samples; ++s) *(_Atomic uint32_t*)(game.homes[s % 2] + (size_t)s * kWordBytes) = 0;
    run_team(2, cpus, duel, &game);
    const struct summary pair = summarise(ns, samples);
    matrix.of[pairs[i].a * host->cpus + pairs[i].b] = matrix.of[pairs[i].b * host->cpus + pairs[i].a] = pair;
    ++matrix.measured;
  }
  matrix.sampled = matrix.measured < count;
  for (int i = matrix.measured; i < count; ++i) {
    const struct summary like = median_of_class(&matrix, pairs, matrix.measured, host->cpus, pairs[i].distance);
    matrix.of[pairs[i].a * host->cpus + pairs[i].b] = matrix.of[pairs[i].b * host->cpus + pairs[i].a] = like;
  }
  for (int i = 0; i < host->memory_nodes; ++i) free_block(&of_node[i]);
  free(of_node);
  free(pairs);
  end_progress(plan);
  return matrix;
}
