// A listener that ignores all reports (EngineSpec::step_listener). With it attached, a run takes the same code paths as under
// `linebounce steps`: no hit takes the fast path. Results stay the same.
#pragma once

#include "models/coherence/step_listener.hpp"
#include "models/core/program_tap.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce::sim {

class IdleListener : public SimulationTap, public StepListener, public ProgramTap {
 public:
  // ---- SimulationTap ----
  ProgramTap& begin(Machine&, const AddressSpace&, const LockSet&) override { return *this; }
  StepListener* listener() override { return this; }
  void miss(const Miss&) override {}
  void end(const PointData&) override {}

  // ---- StepListener ----
  void row_ran(Tick, Controller, int, LineAddr, StateId, EventId, StateId) override {}
  void directory_changed(Tick, int, LineAddr, int, std::uint64_t) override {}
  void access_ran(Tick, int, CpuId, const Operation&, Value, Value, Served) override {}
  void data_taken(Tick, Endpoint, LineAddr, std::span<const std::byte>) override {}
  std::uint32_t sent(const SentMessage&) override { return 0; }
  void arrived(std::uint32_t, Tick) override {}
  void store_buffered(Tick, CpuId, const Operation&) override {}
  void store_drained(Tick, CpuId, const Operation&) override {}
  void load_forwarded(Tick, CpuId, const Operation&, Value) override {}
  StageId stage(const Stage&) override { return kNoStage; }

  // ---- ProgramTap ----
  void called(const Cpu&, const ProgramCall&) override {}
  void applied(const Cpu&, const Operation&, Value) override {}
  void forwarded(const Cpu&, Address) override {}
  void spin_begins(const Cpu&, std::span<const Address>, int) override {}
  void spin_polled(const Cpu&) override {}
  void spin_ends(const Cpu&) override {}
  void composite_begins(const Cpu&, const Composite&) override {}
  void composite_ends(const Cpu&, bool) override {}
  void handler_begins(const Cpu&, int) override {}
  void handler_ends(const Cpu&) override {}
};

}  // namespace linebounce::sim
