// The specification of a core: its costs, its TLB and code cache, and its private caches.
#pragma once

#include <string>

#include "models/spec_binder.hpp"

namespace linebounce {

enum class Replacement { lru, tree_plru };
template <>
inline constexpr auto kWordsOf<Replacement> = std::to_array<std::string_view>({"lru", "tree_plru"});

enum class Consistency { sc, tso, ia64 };
template <>
inline constexpr auto kWordsOf<Consistency> = std::to_array<std::string_view>({"sc", "tso", "ia64"});

// Which misses also fetch the other line of an aligned pair of lines.
enum class PairPrefetch { none, loads, all };
template <>
inline constexpr auto kWordsOf<PairPrefetch> = std::to_array<std::string_view>({"none", "loads", "all"});

// The operations after which a line that they fetched stays with its core for hold_ns.
enum class HoldAfter { compare_exchange, writes };
template <>
inline constexpr auto kWordsOf<HoldAfter> = std::to_array<std::string_view>({"compare_exchange", "writes"});

struct CpuSpec {
  Frequency clock;
  int issue_per_cycle = 1;
  double cycles_per_instruction = 0.7;
  double least_cycles_per_instruction = 0.3;
  double most_cycles_per_instruction = 2;
  int threads_per_core = 1;
  int shared_issue_pct = 100;
  int spinning_sibling_pct = 100;
  int pausing_sibling_pct = 100;
  int pause_cycles = 0;
  int spin_exit_cycles = 0;
  int atomic_latency_cycles = 0;
  int compare_exchange_latency_cycles = 0;
  int fence_latency_cycles = 0;
  int fill_latency_cycles = 0;
  int replay_cycles = 0;
  double hold_ns = 0;
  HoldAfter hold_after = HoldAfter::compare_exchange;
  int interrupt_latency_cycles = 0;
  double ipi_latency_ns = 0;
  int ipi_send_cycles = 0;
  double system_call_ns = 100;
  double context_switch_ns = 1500;
  int page_invalidation_cycles = 0;
  int tlb_flush_cycles = 0;
  int tlb_flush_ceiling_pages = 33;
  Consistency consistency = Consistency::sc;
  int store_buffer_entries = 0;
  int outstanding_misses = 1;
  int write_back_buffers = 1;
  PairPrefetch pair_prefetch = PairPrefetch::none;
  bool ownership_prefetch = false;

  void bind(SpecBinder& keys) {
    keys.number("clock_mhz", "MHz", clock, 0.001, kMostMhz, "the cores' clock", kRequired);
    keys.number("issue_per_cycle", "", issue_per_cycle, 1, 64, "instructions that a core retires in a cycle");
    keys.number(
        "cycles_per_instruction", "cycles", cycles_per_instruction, 0.01, 1000,
        "mean time of an instruction of a recorded program, accesses that hit the nearest cache included; only replays of "
        "recordings use it");
    keys.number("least_cycles_per_instruction", "cycles", least_cycles_per_instruction, 0.01, 1000,
                "likewise, of programs with much parallelism: answers about recordings are tried with it, too");
    keys.number("most_cycles_per_instruction", "cycles", most_cycles_per_instruction, 0.01, 1000,
                "likewise, of programs in which each instruction needs the result of the one before");
    keys.number("threads_per_core", "", threads_per_core, 1, 8, "hardware threads that share a core's caches");
    keys.number("shared_issue_pct", "%", shared_issue_pct, 1, 100,
                "of its speed that a hardware thread keeps when it computes while another of its core does, too");
    keys.number("spinning_sibling_pct", "%", spinning_sibling_pct, 1, 100,
                "likewise, while another of its core spins in a loop without a pause");
    keys.number("pausing_sibling_pct", "%", pausing_sibling_pct, 1, 100,
                "likewise, in a loop that pauses, as those of nearly all locks do");
    keys.cycles("pause_cycles", pause_cycles,
                "the pause of a spin loop, between two looks at its word; compare and branch take 2 more");
    keys.cycles("spin_exit_cycles", spin_exit_cycles,
                "leaving a spin loop that has waited without a pause: the loads that it has under way are thrown away");
    keys.cycles("atomic_latency_cycles", atomic_latency_cycles,
                "exchange and fetch-and-add on a line that is owned; the line is locked for so long");
    keys.cycles("compare_exchange_latency_cycles", compare_exchange_latency_cycles,
                "compare-and-exchange on a line that is owned; the line is locked for so long");
    keys.cycles("fence_latency_cycles", fence_latency_cycles, "a full fence with nothing to wait for");
    keys.cycles("fill_latency_cycles", fill_latency_cycles,
                "first data at the core's pins to the start of the operation that waits for it");
    keys.cycles(
        "replay_cycles", replay_cycles,
        "an operation that has waited for another of its core starts so long after it: an atomic after the stores before "
        "it have drained, an access after the fill of a line that a sibling has requested");
    keys.ns("hold_ns", hold_ns, "a line answers no snoop for so long after the operation that has fetched it");
    keys.word("hold_after", hold_after,
              "which operations: a compare_exchange (who failed tries again first), or all writes, stores and atomics",
              {.needs = "machine.cpu.hold_ns"});
    keys.cycles("interrupt_latency_cycles", interrupt_latency_cycles,
                "an interrupt's arrival to its handler's first instruction");
    keys.ns("ipi_latency_ns", ipi_latency_ns,
            "sending an inter-processor interrupt to its arrival; waking a sleeping CPU takes as long");
    keys.cycles("ipi_send_cycles", ipi_send_cycles, "sending one keeps the sender for so long");
    keys.ns("system_call_ns", system_call_ns,
            "entering and leaving the kernel, for a program that waits in it or wakes others");
    keys.ns("context_switch_ns", context_switch_ns,
            "a thread that waits in the kernel gives up its CPU, and once woken gets one back, in so long each");
    keys.cycles("page_invalidation_cycles", page_invalidation_cycles, "dropping one page's translation from the TLB");
    keys.cycles("tlb_flush_cycles", tlb_flush_cycles, "dropping all translations");
    keys.number("tlb_flush_ceiling_pages", "pages", tlb_flush_ceiling_pages, 0, 1 << 20,
                "of more pages than this, all translations are dropped instead, as Linux does");
    keys.word("consistency", consistency, "the memory model");
    keys.number("store_buffer_entries", "entries", store_buffer_entries, 0, 1024,
                "stores that wait for their lines; more than 0 exactly where consistency is not sc");
    keys.number("outstanding_misses", "", outstanding_misses, 1, 1024,
                "misses, prefetches and store-buffer drains that a core has under way");
    keys.number("write_back_buffers", "", write_back_buffers, 1, 1024, "dirty victims of a core that wait for the bus");
    keys.word("pair_prefetch", pair_prefetch,
              "a miss also asks for the other line of an aligned pair, to read it: never, of loads, or of stores and atomics, "
              "too");
    keys.flag("ownership_prefetch", ownership_prefetch,
              "a store or atomic that waits behind others in the store buffer asks for the right to write its line meanwhile");
  }
};

// A core's TLB and code cache, if they are simulated (models/core/footprint.hpp). The core's hardware threads share both.
struct FootprintSpec {
  int tlb_entries = 0;
  int tlb_ways = 4;
  int tlb_page_kib = 4;
  int tlb_miss_cycles = 20;
  int code_cache_kib = 0;
  int code_cache_ways = 4;
  int code_line_bytes = 64;
  int code_miss_cycles = 10;
  int bytes_per_instruction = 4;
  int kernel_function_bytes = 512;
  int user_code_kib = 64;

  [[nodiscard]] bool on() const { return tlb_entries > 0 || code_cache_kib > 0; }

  void bind(SpecBinder& keys) {
    constexpr ParameterTraits kOfPages{.needs = "machine.footprint.tlb_entries"};
    constexpr ParameterTraits kOfCode{.needs = "machine.footprint.code_cache_kib"};
    keys.number("tlb_entries", "entries", tlb_entries, 0, 1 << 16, "of a core's data TLB; 0: no translation is ever missing",
                kOfPages);
    keys.number("tlb_ways", "", tlb_ways, 1, 1 << 16, "its associativity; as many as entries: any page in any entry", kOfPages);
    keys.number("tlb_page_kib", "KiB", tlb_page_kib, 1, 1 << 20, "what one entry translates", kOfPages);
    keys.number("tlb_miss_cycles", "cycles", tlb_miss_cycles, 0, kMostCycles, "a walk through the page tables", kOfPages);
    keys.number("code_cache_kib", "KiB", code_cache_kib, 0, 1 << 16,
                "a core's nearest cache of code; 0: no code is ever missing", kOfCode);
    keys.number("code_cache_ways", "", code_cache_ways, 1, 1024, "its associativity", kOfCode);
    keys.number("code_line_bytes", "bytes", code_line_bytes, 8, kLargestLine, "its line", kOfCode);
    keys.number("code_miss_cycles", "cycles", code_miss_cycles, 0, kMostCycles, "a line of code that comes from the next cache",
                kOfCode);
    keys.number("bytes_per_instruction", "bytes", bytes_per_instruction, 1, 64, "of code, mean", kOfCode);
    keys.number("kernel_function_bytes", "bytes", kernel_function_bytes, 1, 1 << 24,
                "of code of each kernel function that the workload names", kOfCode);
    keys.number("user_code_kib", "KiB", user_code_kib, 1, 1 << 20,
                "of code of each of the workload's functions that is user code", kOfCode);
  }
};

constexpr int kMostLevels = 4;  // the largest number of private cache levels

// One level of a core's private caches. MachineSpec::caches lists the levels, the nearest to the core first.
struct CacheSpec {
  std::string name;  // the level's name, such as "L1D"
  int size_kib = 0;
  int ways = 0;
  int line_bytes = 0;  // the line size; in an inner level, it may be smaller than the coherence line
  int hit_latency_cycles = 0;
  bool inclusive = true;  // true if evicting a line from this level also evicts it from the levels nearer to the core
  Replacement replacement = Replacement::lru;

  void bind(SpecBinder& keys) {
    keys.number("size_kib", "KiB", size_kib, 1, 1 << 20, "capacity", kRequired);
    keys.number("ways", "", ways, 1, 1024, "associativity", kRequired);
    keys.number("line_bytes", "bytes", line_bytes, 8, kLargestLine, "line size; the outermost cache's is the coherence line",
                kRequired);
    keys.number("hit_latency_cycles", "cycles", hit_latency_cycles, 1, kMostCycles, "load to use on a hit", kRequired);
    keys.flag("inclusive", inclusive, "holds all that the nearer levels hold");
    keys.word("replacement", replacement, "which line makes room");
  }
};

}  // namespace linebounce
