// Decides when a node's memory answers. The machine's own memory is MemoryController; another class can replace it.
#pragma once

#include "models/units.hpp"

namespace linebounce {

class MemoryTiming {
 public:
  virtual ~MemoryTiming() = default;

  // Returns the time of a read's first data. The address arrives at `address_at`. REQUIRES: called in order of arrival.
  virtual Tick read(LineAddr line, Tick address_at) = 0;
  // Takes a write-back, whose data arrives at `data_at`.
  virtual void write(LineAddr line, Tick data_at) = 0;
  // The latency of the latest read. Without the wait for other accesses, if the memory can tell that wait from the rest.
  [[nodiscard]] virtual Tick latency() const = 0;
};

}  // namespace linebounce
