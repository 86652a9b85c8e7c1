#include "models/memory/memory_controller.hpp"

#include <algorithm>

namespace linebounce {

MemoryController::MemoryController(const MemorySpec& spec, const Timebase& timebase, int line_bytes)
    : latency_(timebase.from_ns(spec.latency_ns)),
      bank_busy_(timebase.from_ns(spec.bank_busy_ns)),
      channel_busy_(spec.bandwidth_mb_per_s > 0 ? timebase.from_ns(line_bytes * 1000.0 / spec.bandwidth_mb_per_s) : 0),
      bank_free_(spec.banks, 0) {}

Tick MemoryController::start(LineAddr line, Tick earliest) {
  Tick& bank = bank_free_[line.value % bank_free_.size()];
  const Tick slot = std::max(earliest, channel_free_);
  const Tick at = std::max(slot, bank);
  if (bank_busy_ > 0) bank = at + bank_busy_;
  if (channel_busy_ > 0) channel_free_ = slot + channel_busy_;
  return at;
}

Tick MemoryController::read(LineAddr line, Tick address_at) {
  return start(line, address_at) + latency_;
}

void MemoryController::write(LineAddr line, Tick data_at) {
  start(line, data_at);
}

}  // namespace linebounce
