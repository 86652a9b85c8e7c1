// Measures how much a hardware thread slows down while its sibling is busy. Times one computation alone, and beside a sibling
// that computes, spins, or spins with a pause.
#pragma once

#include "plan.h"
#include "processor.h"

enum sibling { kAlone, kComputing, kSpinning, kPausing, kSiblings };
enum { kSiblingSamples = 60, kSiblingLoops = 10000 };

static const char* const sibling_names[kSiblings] = {"alone", "beside_computing", "beside_spinning", "beside_pausing"};

struct siblings {
  enum sibling other;
  int samples;
  double *ns, clock_overhead_ns;
  _Alignas(256) _Atomic int is_over;
};

// Computes eight independent chains, which fill all issue slots.
static inline void compute_hard(int loops) {
  unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  for (int i = 0; i < loops; ++i) {
    a ^= 3, b ^= 3, c ^= 3, d ^= 3, e ^= 3, f ^= 3, g ^= 3, h ^= 3;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
  }
}

static inline void run_siblings(int member, void* argument) {
  struct siblings* siblings = argument;
  if (member == 1) {
    while (!atomic_load_explicit(&siblings->is_over, memory_order_relaxed)) {
      if (siblings->other == kComputing) compute_hard(kSiblingLoops / 10);
      if (siblings->other == kPausing) pause_spin();
    }
    return;
  }
  compute_hard(kSiblingLoops);
  for (int i = 0; i < siblings->samples; ++i) {
    const double begin = now_ns();
    compute_hard(kSiblingLoops);
    siblings->ns[i] = now_ns() - begin - siblings->clock_overhead_ns;
  }
  atomic_store(&siblings->is_over, 1);
}

// `cpus`: the system's CPU numbers of two hardware threads of one core.
static inline struct summary measure_sibling(const struct plan* plan, enum sibling other, const int* cpus) {
  double ns[kSiblingSamples];
  struct siblings siblings = {.other = other,
                              .samples = plan->quick ? kSiblingSamples / 3 : kSiblingSamples,
                              .ns = ns,
                              .clock_overhead_ns = plan->clock_overhead_ns};
  run_team(other == kAlone ? 1 : 2, cpus, run_siblings, &siblings);
  return summarise(ns, siblings.samples);
}
