// The timing of a node's memory. Banks are interleaved by line. An access occupies its bank, and all banks share one bandwidth.
// The data is in the LineStore.
#pragma once

#include <vector>

#include "models/machine_spec.hpp"
#include "models/memory/memory_timing.hpp"
#include "models/timebase.hpp"

namespace linebounce {

class MemoryController final : public MemoryTiming {
 public:
  MemoryController(const MemorySpec& spec, const Timebase& timebase, int line_bytes);

  Tick read(LineAddr line, Tick address_at) override;
  void write(LineAddr line, Tick data_at) override;
  [[nodiscard]] Tick latency() const override { return latency_; }

 private:
  // Reserves the bank and the shared channel for an access. Returns the first time from `earliest` on when both are free.
  Tick start(LineAddr line, Tick earliest);

  Tick latency_;
  Tick bank_busy_;
  Tick channel_busy_;  // how long a line occupies the shared channel; 0: no limit
  std::vector<Tick> bank_free_;
  Tick channel_free_ = 0;
};

}  // namespace linebounce
