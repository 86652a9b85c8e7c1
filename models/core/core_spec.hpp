// A core's specification, with its latencies converted to ticks.
#pragma once

#include <algorithm>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/machine_spec.hpp"
#include "models/timebase.hpp"
#include "models/units.hpp"

namespace linebounce {

struct CoreSpec : CpuSpec {
  // Statistics cover `measure_us` from `warmup_us` on; a `measure_us` of 0 means the rest of the run. REQUIRES: `time` outlives
  // the spec.
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
  Tick warmup_end;  // when statistics start
  Tick end;         // no operation starts at or after this time

  Tick cycle = timebase->period(clock);
  std::vector<Tick> hit_latency;  // hit latencies by cache level, the nearest level first
  Tick atomic_latency = atomic_latency_cycles * cycle;
  Tick compare_exchange_latency = compare_exchange_latency_cycles * cycle;
  Tick fence_latency = fence_latency_cycles * cycle;
  Tick fill_latency = fill_latency_cycles * cycle;
  Tick replay = replay_cycles * cycle;
  Tick held = timebase->from_ns(hold_ns);
  Tick interrupt_latency = interrupt_latency_cycles * cycle;
  // At least one tick later: nothing reaches another core in the same tick.
  Tick ipi_latency = std::max<Tick>(1, timebase->from_ns(ipi_latency_ns));
  Tick ipi_send = ipi_send_cycles * cycle;
  Cpu::SystemCosts system_costs{timebase->from_ns(system_call_ns) / cycle, timebase->from_ns(context_switch_ns) / cycle};
  Tick tight_spin = Cpu::kSpinPause * cycle;                     // a spin iteration's time besides its loads, without a pause
  Tick pausing_spin = (Cpu::kSpinPause + pause_cycles) * cycle;  // a spin iteration's time besides its loads, with a pause
  Tick spin_exit = spin_exit_cycles * cycle;
  // Keeps a core that never waits from running past the watchdog's checks.
  Tick run_ahead_limit = timebase->from_us(engine.watchdog_us);

  [[nodiscard]] bool shares_issue_slots() const {
    return shared_issue_pct < 100 || spinning_sibling_pct < 100 || pausing_sibling_pct < 100;
  }
};

}  // namespace linebounce
