// The memory of a node: when a line's first data is ready. Banks are interleaved by line; an access occupies its bank, and
// all banks share one bandwidth. Values are elsewhere (LineStore).
#pragma once

#include <vector>

#include "models/machine_spec.hpp"
#include "models/timebase.hpp"

namespace linebounce {

class MemoryController {
 public:
  MemoryController(const MemorySpec& spec, const Timebase& timebase, int line_bytes);

  // The time of the first data of a read whose address arrives at `address_at`. Accesses are asked for in their order.
  Tick read(LineAddr line, Tick address_at);
  // Data of a write-back arrives at `data_at`.
  void write(LineAddr line, Tick data_at);

 private:
  // The access' start: not before `earliest`, its bank and the shared channel.
  Tick start(LineAddr line, Tick earliest);

  Tick latency_;
  Tick bank_busy_;
  Tick channel_busy_;  // a line's share of the bandwidth; 0: not limited
  std::vector<Tick> bank_free_;
  Tick channel_free_ = 0;
};

}  // namespace linebounce
