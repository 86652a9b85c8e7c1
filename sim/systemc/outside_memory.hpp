// A node's memory, modelled by a SystemC module. The delays that the module annotates determine when reads are answered.
#pragma once

#include <functional>
#include <string>
#include <tlm>
#include <vector>

#include "models/memory/memory_timing.hpp"
#include "sim/systemc/clock.hpp"

namespace linebounce {
class Machine;
}

namespace linebounce::sim {

class OutsideMemory final : public MemoryTiming {
 public:
  using Transport = std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time& delay)>;

  // `name`: used in messages. REQUIRES: the machine outlives this object.
  OutsideMemory(std::string name, Transport transport, Machine& machine);

  // Both throw std::runtime_error if the module calls wait(), refuses a line, or answers a read sooner than the machine's
  // lookahead.
  Tick read(LineAddr line, Tick address_at) override;
  void write(LineAddr line, Tick data_at) override;
  [[nodiscard]] Tick latency() const override { return latency_; }

 private:
  // Sends the access to the module, and returns when its data is ready.
  Tick access(LineAddr line, Tick at, tlm::tlm_command command);
  [[noreturn]] void refuse(const std::string& why) const;

  std::string name_;
  Transport transport_;
  Machine& machine_;
  Clock clock_;
  Tick latency_ = 0;
  std::vector<unsigned char> bytes_;
};

}  // namespace linebounce::sim
