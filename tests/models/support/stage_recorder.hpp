// Records the stages of all transactions of a run.
#pragma once

#include <vector>

#include "models/coherence/step_listener.hpp"

namespace linebounce::test {

class StageRecorder final : public StepListener {
 public:
  void row_ran(Tick, Controller, int, LineAddr, StateId, EventId, StateId) override {}
  void directory_changed(Tick, int, LineAddr, int, std::uint64_t) override {}
  void access_ran(Tick, int, CpuId, const Operation&, Value, Value, Served) override {}
  void data_taken(Tick, Endpoint, LineAddr, std::span<const std::byte>) override {}
  std::uint32_t sent(const SentMessage&) override { return 0; }
  void arrived(std::uint32_t, Tick) override {}
  void store_buffered(Tick, CpuId, const Operation&) override {}
  void store_drained(Tick, CpuId, const Operation&) override {}
  void load_forwarded(Tick, CpuId, const Operation&, Value) override {}
  StageId stage(const Stage& stage) override {
    stages.push_back(stage);
    return static_cast<StageId>(stages.size());
  }

  // REQUIRES: `id` is not kNoStage.
  [[nodiscard]] const Stage& at(StageId id) const { return stages.at(id - 1); }

  std::vector<Stage> stages;
};

}  // namespace linebounce::test
