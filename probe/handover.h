// Measures how long a load or an atomic addition takes on a line that another CPU holds, by the line's state and home. One CPU
// (the giver) brings a few lines into the state. Another CPU (the receiver) then chases pointers through these lines.
#pragma once

#include "memory.h"
#include "plan.h"

enum { kRingLines = 64, kRingStride = 5 * kLineBytes, kRingRepeats = 60, kPairsOfClass = 2, kMostRows = 4096 };
enum state { kModified, kExclusive, kShared, kStates };
enum access { kLoad, kFetchAdd, kAccesses };

static const char* const state_names[kStates] = {"modified", "exclusive", "shared"};
static const char* const access_names[kAccesses] = {"load", "fetch_add"};

struct handover {
  int from, to, home_node;  // `from`, `to`: indexes in host->cpu; `home_node`: the system's node number
  enum state state;
  enum access access;
  struct summary ns;
};

struct relay {
  void** ring;
  char* data;
  enum state state;
  enum access access;
  int repeats;
  double *ns, clock_overhead_ns;
  _Atomic int turn;  // 0: the giver; 1: the receiver; 2: another reader
};

static inline void wait_for_turn(struct relay* relay, int member) {
  while (atomic_load_explicit(&relay->turn, memory_order_acquire) != member) pause_spin();
}

static inline void prepare(struct relay* relay, int member) {
  for (int i = 0; i < kRingLines; ++i) {
    char* line = relay->data + (size_t)i * kRingStride;
    if (relay->state == kModified) {
      *(volatile char*)(line + sizeof(void*)) = (char)member;
    } else if (member == 0) {
      flush_line(line);
    }
  }
  full_fence();
  for (int i = 0; relay->state != kModified && i < kRingLines; ++i)
    (void)*(volatile char*)(relay->data + (size_t)i * kRingStride);
  full_fence();
}

static inline void run_relay(int member, void* argument) {
  struct relay* relay = argument;
  for (int i = 0; i < relay->repeats; ++i) {
    wait_for_turn(relay, member);
    if (member == 1) {
      const double begin = now_ns();
      void** end_of_ring = relay->access == kLoad ? chase(relay->ring, kRingLines) : chase_atomically(relay->ring, kRingLines);
      const double end = now_ns();
      relay->ns[i] = (end - begin - relay->clock_overhead_ns) / kRingLines;
      // Without this test the compiler would remove the loads. The test also shows that the receiver followed the whole ring.
      if (end_of_ring != relay->ring) abort();
    } else {
      prepare(relay, member);
    }
    // Order of turns: the giver; for a shared line, another reader; the receiver.
    const int next = member == 1 ? 0 : member == 0 && relay->state == kShared ? 2 : 1;
    atomic_store_explicit(&relay->turn, next, memory_order_release);
  }
}

// Returns a CPU that shares the line with the giver, on the giver's node if possible; -1 if there is none.
static inline int other_reader(const struct host* host, int from, int to) {
  int found = -1;
  for (int i = 0; i < host->cpus; ++i) {
    if (i == from || i == to) continue;
    if (host->node[i] == host->node[from]) return i;
    if (found < 0) found = i;
  }
  return found;
}

static inline int measure_handover(struct plan* plan, const struct pair* pair, struct block* block, int home_node,
                                   struct handover* rows, int count) {
  const struct host* host = plan->host;
  double ns[kRingRepeats];
  for (enum state state = 0; state < kStates; ++state) {
    const int third = other_reader(host, pair->a, pair->b);
    if ((state == kShared && third < 0) || (state != kModified && !can_flush)) continue;
    for (enum access access = 0; access < kAccesses && count < kMostRows; ++access) {
      struct relay relay = {make_ring(block->data, kRingLines, kRingStride, &plan->random),
                            block->data,
                            state,
                            access,
                            plan->quick ? kRingRepeats / 3 : kRingRepeats,
                            ns,
                            plan->clock_overhead_ns,
                            0};
      const int cpus[3] = {host->cpu[pair->a], host->cpu[pair->b], third < 0 ? 0 : host->cpu[third]};
      run_team(state == kShared ? 3 : 2, cpus, run_relay, &relay);
      rows[count++] = (struct handover){pair->a, pair->b, home_node, state, access, summarise(ns, relay.repeats)};
    }
  }
  return count;
}

// True for the giver's node, the receiver's node, and the first node that is neither. `others` counts the nodes that are
// neither.
static inline bool is_home_to_measure(const struct host* host, const struct pair* pair, int node, int* others) {
  if (node == host->node[pair->a] || node == host->node[pair->b]) return true;
  return (*others)++ == 0;
}

static inline int measure_handovers(struct plan* plan, struct handover* rows) {
  const struct host* host = plan->host;
  int pairs_count, count = 0, wanted = 0;
  struct pair* pairs = shuffled_pairs(plan, &pairs_count);
  while (wanted < pairs_count && pairs[wanted].rank < kPairsOfClass) ++wanted;
  const double deadline = now_ns() + (plan->quick ? 3e9 : 20e9);
  for (int i = 0; i < wanted && (now_ns() < deadline || i == 0); ++i) {
    show_progress(plan, "hand-off by state and home: pair", i, wanted);
    int others = 0;
    for (int n = 0; n < host->memory_nodes; ++n) {
      const int node = host->memory_node[n];
      if (!is_home_to_measure(host, &pairs[i], node, &others)) continue;
      struct block block = allocate_on(host, (size_t)kRingLines * kRingStride, node);
      count = measure_handover(plan, &pairs[i], &block, node, rows, count);
      free_block(&block);
    }
  }
  free(pairs);
  end_progress(plan);
  return count;
}
