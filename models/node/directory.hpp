// The directory and the memory of one node. The directory knows the owner and the sharers of every line whose home is this
// node, and runs a protocol's `directory` table.
#pragma once

#include <systemc>
#include <vector>

#include "models/coherence/transition_log.hpp"
#include "models/memory/memory_controller.hpp"
#include "models/network/network.hpp"
#include "models/node/line_places.hpp"

namespace linebounce {

class Directory final : public sc_core::sc_module, public NetworkEndpoint {
 public:
  Directory(sc_core::sc_module_name name, int node, const MachineContext& machine, const Protocol& protocol, Network& network);

  void receive(PacketIndex packet, Tick at) override;

  [[nodiscard]] std::string describe_pending() const;

 private:
  struct Outbox;

  [[nodiscard]] bool waits_for_turn(PacketIndex packet, Tick at);
  [[nodiscard]] bool process(PacketIndex packet, Tick at);
  [[nodiscard]] ControllerEntry& entry(Slot slot);
  [[nodiscard]] bool evictable(Slot slot) const;
  void find_place(Slot slot, Tick at);
  void evict(Slot slot, Tick at);
  template <class Step>
  StepResult run_and_tell(const Packet& packet, Tick at, Step step);
  template <class Step>
  StepResult run(const Packet& packet, const std::byte* data, Tick at, Step step);

  const int node_;
  const Protocol& protocol_;
  const ControllerRules rules_;
  LineStore& store_;
  TransitionLog& log_;
  Network& network_;
  MemoryController memory_;
  Tick latency_;  // time of a pass through the controller, with the directory's look-up
  Tick line_busy_;
  std::vector<Tick> line_free_;           // indexed by slot: when the next request may be processed
  std::vector<ControllerEntry> entries_;  // indexed by slot
  LinePlaces places_;                     // storage slots for entries
  std::vector<PacketIndex> stalled_;      // messages in the order of arrival
};

}  // namespace linebounce
