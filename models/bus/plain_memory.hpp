// Memory directly behind a bus. It grants every request, has one state, and keeps its data in the LineStore.
#pragma once

#include "models/bus/memory_side.hpp"
#include "models/coherence/transition_log.hpp"
#include "models/machine_context.hpp"
#include "models/memory/memory_controller.hpp"

namespace linebounce {

class PlainMemory final : public MemorySide {
 public:
  explicit PlainMemory(const MachineContext& machine)
      : controller_(machine.spec.memory, machine.timebase, machine.store.line_bytes()),
        store_(machine.store),
        log_(machine.log) {}

  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  // REQUIRES: called before the simulation starts; `timing` outlives it.
  void set_timing(MemoryTiming& timing) { timing_ = &timing; }

  [[nodiscard]] bool is_plain() const override { return true; }
  bool grants(const BusRequest&, Slot, Tick) override { return true; }
  [[nodiscard]] StateId state(Slot) const override { return 0; }
  void set_state(Slot, StateId) override {}
  [[nodiscard]] LineData data(Slot slot) override { return {store_.memory_data(slot), store_.memory_version(slot)}; }
  void take(Slot slot, const LineData& data) override { store_.write_memory(slot, data.bytes, data.version); }
  void act(Slot, Action, const BusRequest&, const LineData&, Tick) override {}
  void on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) override {
    log_.record(at, Controller::memory, 0, store_.line(slot), state, event, next);
  }
  Supply read(Slot slot, Tick address_at) override {
    return {timing_->read(store_.line(slot), address_at), Source::local_memory};
  }
  [[nodiscard]] Tick read_latency() const override { return timing_->latency(); }
  void write(Slot slot, Tick data_at) override { timing_->write(store_.line(slot), data_at); }
  void recalled(Slot, MessageId, bool, const LineData&, Tick, Tick, StageId, const Waits&) override {}
  void order_over(Slot, Tick) override {}

 private:
  MemoryController controller_;
  MemoryTiming* timing_ = &controller_;
  LineStore& store_;
  TransitionLog& log_;
};

}  // namespace linebounce
