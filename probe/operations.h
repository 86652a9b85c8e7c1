// Measures what one CPU does alone: its actual clock frequency, and atomic operations on a line that it owns. Each operation
// depends on the previous one.
#pragma once

#include "plan.h"
#include "processor.h"

enum operation { kExchange, kFetchAddOwned, kCompareExchange, kFence, kOperations };
enum { kOperationSamples = 60, kOperationLoops = 500 };

static const char* const operation_names[kOperations] = {"exchange", "fetch_add", "compare_exchange", "fence"};

// A register-to-register XOR takes one cycle on all processors. The empty assembler statement stops the compiler from merging
// the XORs.
static inline double cycles_ns(void) {
  enum { kLoops = 500, kInLoop = 64 };
  unsigned long x = 1, y = 3;
  __asm__ volatile("" : "+r"(y));
  const double begin = now_ns();
  for (int i = 0; i < kLoops; ++i) {
#define LINEBOUNCE_CYCLE \
  x ^= y;                \
  __asm__ volatile("" : "+r"(x));
#define LINEBOUNCE_8_CYCLES                                                                                              \
  LINEBOUNCE_CYCLE LINEBOUNCE_CYCLE LINEBOUNCE_CYCLE LINEBOUNCE_CYCLE LINEBOUNCE_CYCLE LINEBOUNCE_CYCLE LINEBOUNCE_CYCLE \
      LINEBOUNCE_CYCLE
    LINEBOUNCE_8_CYCLES LINEBOUNCE_8_CYCLES LINEBOUNCE_8_CYCLES LINEBOUNCE_8_CYCLES LINEBOUNCE_8_CYCLES LINEBOUNCE_8_CYCLES
        LINEBOUNCE_8_CYCLES LINEBOUNCE_8_CYCLES
  }
  return (now_ns() - begin) / (kLoops * kInLoop);
}

static inline struct summary measure_clock_mhz(const struct plan* plan) {
  double mhz[kOperationSamples];
  pin_to(plan->host->cpu[0]);
  const double warm = now_ns() + 5e7;  // gives a variable clock time to reach its highest frequency
  while (now_ns() < warm) (void)cycles_ns();
  for (int i = 0; i < kOperationSamples; ++i) mhz[i] = 1e3 / cycles_ns();
  return summarise(mhz, kOperationSamples);
}

static inline void operate(enum operation operation, _Atomic uint64_t* word) {
  uint64_t value = 0;
  for (int i = 0; i < kOperationLoops; ++i) {
    switch (operation) {
      case kExchange: value = atomic_exchange(word, value); break;
      case kFetchAddOwned: value = atomic_fetch_add(word, value | 1); break;
      case kCompareExchange: value += atomic_compare_exchange_strong(word, &value, value + 1); break;
      case kFence: atomic_thread_fence(memory_order_seq_cst); break;
      case kOperations: break;
    }
  }
}

static inline struct summary measure_operation(const struct plan* plan, enum operation operation) {
  static _Alignas(256) _Atomic uint64_t word;
  double ns[kOperationSamples];
  pin_to(plan->host->cpu[0]);
  operate(operation, &word);
  for (int i = 0; i < kOperationSamples; ++i) {
    const double begin = now_ns();
    operate(operation, &word);
    ns[i] = (now_ns() - begin - plan->clock_overhead_ns) / kOperationLoops;
  }
  return summarise(ns, kOperationSamples);
}

static inline double measure_clock_overhead(void) {
  double ns[101];
  for (int i = 0; i < 101; ++i) {
    const double begin = now_ns();
    ns[i] = now_ns() - begin;
  }
  return summarise(ns, 101).median;
}
