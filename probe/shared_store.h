// The cost of writing lines that other CPUs share. The sharers and then the writer read a ring of lines; the writer then adds 0
// to each line atomically. A plain store would retire into the store buffer and hide the cost.
#pragma once

#include "memory.h"
#include "plan.h"

enum { kSharedLines = 64, kSharedStride = 5 * kLineBytes, kSharedRepeats = 60 };

struct sharing {
  void** ring;
  char* data;
  int members, wanted, repeats;
  double *ns, clock_overhead_ns, deadline_ns;
  bool is_over;
  _Atomic int turn;  // the member whose turn it is; each round ends with the writer, member 0
};

static inline void read_lines(const struct sharing* sharing) {
  for (int i = 0; i < kSharedLines; ++i) (void)*(volatile char*)(sharing->data + (size_t)i * kSharedStride);
  full_fence();
}

static inline void run_sharing(int member, void* argument) {
  struct sharing* sharing = argument;
  for (;;) {
    while (atomic_load_explicit(&sharing->turn, memory_order_acquire) != member) pause_spin();
    if (sharing->is_over) {
      atomic_store_explicit(&sharing->turn, (member + 1) % sharing->members, memory_order_release);
      return;
    }
    read_lines(sharing);
    if (member == 0) {
      const double begin = now_ns();
      if (chase_atomically(sharing->ring, kSharedLines) != sharing->ring) abort();
      const double end = now_ns();
      sharing->ns[sharing->repeats++] = (end - begin - sharing->clock_overhead_ns) / kSharedLines;
      sharing->is_over = sharing->repeats == sharing->wanted || end > sharing->deadline_ns;
    }
    const bool done = member == 0 && sharing->is_over;
    atomic_store_explicit(&sharing->turn, (member + 1) % sharing->members, memory_order_release);
    if (done) return;
  }
}

// `cpus`: the system's CPU numbers; the first is the writer.
static inline struct summary measure_shared_store(struct plan* plan, const int* cpus, int count, int home_node) {
  double ns[kSharedRepeats];
  struct block block = allocate_on(plan->host, (size_t)kSharedLines * kSharedStride, home_node);
  struct sharing sharing = {.ring = make_ring(block.data, kSharedLines, kSharedStride, &plan->random),
                            .data = block.data,
                            .members = count,
                            .wanted = plan->quick ? kSharedRepeats / 3 : kSharedRepeats,
                            .ns = ns,
                            .clock_overhead_ns = plan->clock_overhead_ns,
                            .deadline_ns = now_ns() + (plan->quick ? 0.5e9 : 2e9),
                            .turn = 1};
  run_team(count, cpus, run_sharing, &sharing);
  free_block(&block);
  return summarise(ns, sharing.repeats);
}
