// A node's memory that a SystemC module models. The delays that the module annotates decide when reads are answered.
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

  // `name`: for messages. REQUIRES: the machine outlives this object.
  OutsideMemory(std::string name, Transport transport, Machine& machine);

  // Both throw std::runtime_error if the memory calls wait(), refuses a line, or answers a read within the machine's
  // lookahead.
  Tick read(LineAddr line, Tick address_at) override;
  void write(LineAddr line, Tick data_at) override;
  [[nodiscard]] Tick latency() const override { return latency_; }

 private:
  // Returns how long the memory takes for the access.
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
