// Plain memory behind a bus: when a line's first data is ready. Banks are interleaved by line; an access occupies its bank, and
// all banks share one bandwidth. Values are elsewhere (LineStore).
#pragma once

#include <systemc>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/timebase.hpp"

namespace linebounce {

// What a bus asks of the memory behind it. Accesses are asked for in the order of the bus.
class Memory : public virtual sc_core::sc_interface {
 public:
  // The time of the first data of a read whose address arrives at `address_at`.
  virtual Tick read(LineAddr line, Tick address_at) = 0;
  // Data of a write-back arrives at `data_at`.
  virtual void write(LineAddr line, Tick data_at) = 0;
};

class MemoryController final : public sc_core::sc_module, public Memory {
 public:
  MemoryController(sc_core::sc_module_name name, const MemorySpec& spec, const Timebase& timebase, int line_bytes);

  Tick read(LineAddr line, Tick address_at) override;
  void write(LineAddr line, Tick data_at) override;

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
