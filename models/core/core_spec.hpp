// A core's costs in ticks, worked out from the machine file once.
#pragma once

#include <vector>

#include "models/machine_spec.hpp"
#include "models/timebase.hpp"
#include "models/units.hpp"

namespace linebounce {

struct CoreSpec {
  const Timebase* timebase = nullptr;
  Tick cycle = 1;
  int issue_per_cycle = 1;
  int shared_issue_pct = 100;
  int spinning_sibling_pct = 100;
  int pausing_sibling_pct = 100;
  std::vector<Tick> hit_latency;  // by level, the nearest first
  Tick atomic_latency = 0;
  Tick compare_exchange_latency = 0;
  Tick fence_latency = 0;
  Tick fill_latency = 0;
  Tick keep = 0;
  Tick interrupt_latency = 0;
  Tick ipi_latency = 0;
  Tick ipi_send = 0;
  Tick tight_spin = 0;    // between two looks of a spin's loop that does not pause
  Tick pausing_spin = 0;  // of one that does
  Tick spin_exit = 0;
  int page_invalidation_cycles = 0;
  int tlb_flush_cycles = 0;
  int tlb_flush_ceiling_pages = 0;
  Consistency consistency = Consistency::sc;
  int store_buffer_entries = 0;
  int outstanding_misses = 1;
  int write_back_buffers = 1;
  PairPrefetch pair_prefetch = PairPrefetch::none;
  bool ownership_prefetch = false;
  FootprintSpec footprint;
  bool run_ahead = true;
  bool parked_spins = true;
  Tick horizon_slack = 0;
  Tick run_ahead_limit = kNever;  // of the machine's time, so that a watchdog sees a core that never waits
  Tick warmup_end = 0;            // statistics start
  Tick end = kNever;              // no operation starts at or after it

  [[nodiscard]] bool shares_issue_slots() const {
    return shared_issue_pct < 100 || spinning_sibling_pct < 100 || pausing_sibling_pct < 100;
  }
};

}  // namespace linebounce
