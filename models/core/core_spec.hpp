// A core's specification, with its costs converted to ticks.
#pragma once

#include <algorithm>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/machine_spec.hpp"
#include "models/timebase.hpp"
#include "models/units.hpp"

namespace linebounce {

struct CoreSpec : CpuSpec {
  // Statistics count events from warmup_us on, for measure_us; 0: until every program has ended. `time` must outlive the spec.
  CoreSpec(const MachineSpec& machine, const EngineSpec& speed_ups, const Timebase& time, double warmup_us, double measure_us)
      : CpuSpec(machine.cpu),
        footprint(machine.footprint),
        engine(speed_ups),
        timebase(&time),
        warmup_end(time.from_us(warmup_us)),
        end(measure_us > 0 ? warmup_end + time.from_us(measure_us) : kNever) {
    for (const CacheSpec& cache : machine.caches) hit_latency.push_back(cache.hit_latency_cycles * cycle);
  }

  FootprintSpec footprint;
  EngineSpec engine;
  const Timebase* timebase;
  Tick warmup_end;  // statistics start
  Tick end;         // no operation starts at or after this time

  Tick cycle = timebase->period(clock);
  std::vector<Tick> hit_latency;  // by level, the nearest first
  Tick atomic_latency = atomic_latency_cycles * cycle;
  Tick compare_exchange_latency = compare_exchange_latency_cycles * cycle;
  Tick fence_latency = fence_latency_cycles * cycle;
  Tick fill_latency = fill_latency_cycles * cycle;
  Tick keep = keep_cycles * cycle;
  Tick interrupt_latency = interrupt_latency_cycles * cycle;
  Tick ipi_latency = std::max<Tick>(1, timebase->from_ns(ipi_latency_ns));  // no effect on another core without a delay
  Tick ipi_send = ipi_send_cycles * cycle;
  Tick tight_spin = Cpu::kSpinPause * cycle;                     // an iteration of a spin loop without a pause
  Tick pausing_spin = (Cpu::kSpinPause + pause_cycles) * cycle;  // an iteration of a spin loop with a pause
  Tick spin_exit = spin_exit_cycles * cycle;
  Tick run_ahead_limit = timebase->from_us(engine.watchdog_us);  // lets the watchdog see a core that never waits

  [[nodiscard]] bool shares_issue_slots() const {
    return shared_issue_pct < 100 || spinning_sibling_pct < 100 || pausing_sibling_pct < 100;
  }
};

}  // namespace linebounce
