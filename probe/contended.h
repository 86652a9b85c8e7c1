// Measures several CPUs that write one line. Each CPU adds to its own word, atomically or not, or all of them increment one
// word by compare-and-exchange. CPUs may wait `between_cycles` between operations. Without a wait, the owner itself is the
// first to operate again, so a wait shows how long an owner keeps the line.
#pragma once

#include "memory.h"
#include "plan.h"

enum contended_operation { kContendedFetchAdd, kContendedStore, kContendedIncrement, kContendedOperations };
enum { kContendedSamples = 60, kContendedLine = 256, kWordsOfLine = kLineBytes / sizeof(uint64_t) };

static const char* const contended_names[kContendedOperations] = {"fetch_add", "store", "increment"};

struct contention {
  enum contended_operation operation;
  int between_cycles, size, wanted, samples;
  char* data;  // one line for each sample, because a line's home within a socket depends on its address
  double window_ns, deadline_ns, *ns, *fails;
  bool is_over;
  _Atomic int arrived[2 * kContendedSamples];
  _Atomic uint64_t per_s[kContendedSamples];
  _Atomic uint64_t done, failed;
};

struct contended_cost {
  struct summary ns;  // mean time between two operations, counting those of all CPUs
  double fails;       // failed attempts per increment; median of the samples
};

static inline void meet_others(struct contention* contention, int number) {
  atomic_fetch_add(&contention->arrived[number], 1);
  while (atomic_load(&contention->arrived[number]) < contention->size) pause_spin();
}

// Returns how many attempts failed.
static inline uint64_t operate_contended(enum contended_operation operation, char* line, int member) {
  uint64_t* mine = (uint64_t*)line + member % kWordsOfLine;
  uint64_t failed = 0;
  switch (operation) {
    case kContendedFetchAdd: atomic_fetch_add((_Atomic uint64_t*)mine, 1); break;
    case kContendedStore: *(volatile uint64_t*)mine = *(volatile uint64_t*)mine + 1; break;
    case kContendedIncrement: {
      _Atomic uint64_t* word = (_Atomic uint64_t*)line;
      uint64_t expected = atomic_load(word);
      while (!atomic_compare_exchange_strong(word, &expected, expected + 1)) ++failed;
      break;
    }
    case kContendedOperations: break;
  }
  return failed;
}

static inline void run_contention(int member, void* argument) {
  struct contention* contention = argument;
  for (int sample = 0; !contention->is_over; ++sample) {
    char* line = contention->data + (size_t)sample * kContendedLine;
    meet_others(contention, 2 * sample);
    const double begin = now_ns();
    double end = begin;
    uint64_t done = 0, failed = 0;
    // Reading the clock takes time, so it is read only once per batch.
    for (int batch = 1; end < begin + contention->window_ns; end = now_ns()) {
      if (end < begin + contention->window_ns / 16 && done > 0) batch *= 2;
      for (int i = 0; i < batch; ++i) {
        failed += operate_contended(contention->operation, line, member);
        if (contention->between_cycles > 0) spend_cycles(contention->between_cycles);
      }
      done += (uint64_t)batch;
    }
    // Adds this CPU's own rate, because CPUs do not stop at the same moment.
    atomic_fetch_add(&contention->per_s[sample], (uint64_t)((double)done / (end - begin) * 1e9));
    atomic_fetch_add(&contention->done, done);
    atomic_fetch_add(&contention->failed, failed);
    if (member == 0 && (sample + 1 == contention->wanted || end > contention->deadline_ns)) contention->is_over = true;
    meet_others(contention, 2 * sample + 1);
    if (member == 0) {
      contention->ns[sample] = 1e9 / (double)atomic_load(&contention->per_s[sample]);
      contention->fails[sample] =
          (double)atomic_exchange(&contention->failed, 0) / (double)atomic_exchange(&contention->done, 0);
      contention->samples = sample + 1;
    }
  }
}

// `cpus`: the system's numbers.
static inline struct contended_cost measure_contention(const struct plan* plan, enum contended_operation operation,
                                                       int between_cycles, const int* cpus, int count, int home_node) {
  double ns[kContendedSamples], fails[kContendedSamples];
  struct block block = allocate_on(plan->host, (size_t)kContendedSamples * kContendedLine, home_node);
  struct contention contention = {.operation = operation,
                                  .between_cycles = between_cycles,
                                  .size = count,
                                  .wanted = plan->quick ? kContendedSamples / 3 : kContendedSamples,
                                  .data = block.data,
                                  .window_ns = 2e5,
                                  .deadline_ns = now_ns() + (plan->quick ? 0.5e9 : 2e9),
                                  .ns = ns,
                                  .fails = fails};
  run_team(count, cpus, run_contention, &contention);
  free_block(&block);
  return (struct contended_cost){summarise(ns, contention.samples), summarise(fails, contention.samples).median};
}
