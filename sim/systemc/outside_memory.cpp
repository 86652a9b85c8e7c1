#include "sim/systemc/outside_memory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "models/machine/machine.hpp"

namespace linebounce::sim {

OutsideMemory::OutsideMemory(std::string name, Transport transport, Machine& machine)
    : name_(std::move(name)),
      transport_(std::move(transport)),
      machine_(machine),
      clock_(machine.timebase()),
      bytes_(static_cast<std::size_t>(machine.store().line_bytes())) {}

Tick OutsideMemory::read(LineAddr line, Tick address_at) {
  latency_ = access(line, address_at, tlm::TLM_READ_COMMAND);
  if (latency_ < machine_.lookahead()) {
    const Timebase& timebase = machine_.timebase();
    refuse(fmt::format("answers a read after {:.3f} ns, sooner than the machine's lookahead of {:.3f} ns",
                       timebase.to_ns(latency_), timebase.to_ns(machine_.lookahead())));
  }
  return address_at + latency_;
}

void OutsideMemory::write(LineAddr line, Tick data_at) {
  access(line, data_at, tlm::TLM_WRITE_COMMAND);
}

Tick OutsideMemory::access(LineAddr line, Tick at, tlm::tlm_command command) {
  LineStore& store = machine_.store();
  if (command == tlm::TLM_WRITE_COMMAND) std::memcpy(bytes_.data(), store.memory_data(store.slot(line)), bytes_.size());
  tlm::tlm_generic_payload transaction;
  transaction.set_command(command);
  transaction.set_address(store.address_of(line));
  transaction.set_data_ptr(bytes_.data());
  transaction.set_data_length(static_cast<unsigned>(bytes_.size()));
  transaction.set_streaming_width(static_cast<unsigned>(bytes_.size()));
  const auto now = sc_core::sc_time::from_value(sc_core::sc_time_stamp().value());  // SystemC's own object changes
  const sc_core::sc_time begin = clock_.time(at);
  const sc_core::sc_time arrives = begin > now ? begin - now : sc_core::SC_ZERO_TIME;
  sc_core::sc_time delay = arrives;
  transport_(transaction, delay);
  if (sc_core::sc_time_stamp() != now) refuse("waits in b_transport(); it must annotate its time instead");
  if (!transaction.is_response_ok()) refuse("answers with " + transaction.get_response_string());
  if (delay < arrives) refuse("takes time away from a transaction");
  return clock_.nearest_tick(delay - arrives);
}

void OutsideMemory::refuse(const std::string& why) const {
  throw std::runtime_error(fmt::format("the memory at {} {}", name_, why));
}

}  // namespace linebounce::sim
