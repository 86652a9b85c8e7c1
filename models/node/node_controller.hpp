// The controller between one bus and the network. The bus sees it as memory; the directories see it as a cache. It runs a
// protocol's `node` table.
//
// Each line has an entry with its state and, in the states that need it, its data. A controller's cache of limited size evicts
// lines: the victim leaves the cache array at once, and its entry exists until the eviction is over.
#pragma once

#include <systemc>
#include <vector>

#include "models/bus/bus_client.hpp"
#include "models/bus/memory_side.hpp"
#include "models/coherence/transition_log.hpp"
#include "models/network/network.hpp"
#include "models/node/kept_data.hpp"
#include "models/node/line_places.hpp"

namespace linebounce {

class NodeController final : public sc_core::sc_module, public MemorySide, public NetworkEndpoint {
 public:
  struct Place {
    int bus;  // number of the bus and of its controller in the machine
    int node;
  };
  NodeController(sc_core::sc_module_name name, Place place, const MachineContext& machine, const Protocol& protocol,
                 Network& network);

  sc_core::sc_port<Bus> bus;
  void end_of_elaboration() override { bus_ = bus.operator->(); }

  // Overrides of MemorySide:
  bool grants(const BusRequest& request, Slot slot, Tick at) override;
  [[nodiscard]] StateId state(Slot slot) const override { return lines_[slot].entry.state; }
  void set_state(Slot slot, StateId state) override { lines_[slot].entry.state = state; }
  [[nodiscard]] LineData data(Slot slot) override;
  void take(Slot slot, const LineData& data) override;
  void act(Slot slot, Action action, const BusRequest& request, const LineData& on_bus, Tick at) override;
  void on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) override;
  Supply read(Slot slot, Tick address_at) override;
  void write(Slot, Tick) override {}
  void recalled(Slot slot, MessageId message, bool owned, const LineData& data, Tick at, Tick data_at) override;
  void order_over(Slot slot, Tick at) override;

  // Overrides of NetworkEndpoint:
  void receive(PacketIndex packet, Tick at) override;

  [[nodiscard]] std::string describe_pending() const;

 private:
  struct Line {
    ControllerEntry entry;
    MessageId asked = 0;                   // the message of the request that the controller serves
    bool running = false;                  // true while the granted transaction is on its way to the bus
    Source source = Source::local_memory;  // the supplier of the data that arrived for the granted transaction
    std::uint32_t data = KeptData::kNone;
    Version version = 0;
  };
  struct Outbox;

  Line& line(Slot slot);
  [[nodiscard]] bool process(PacketIndex packet, Tick at);
  void settle(Slot slot, Tick at);
  void find_place(Slot slot, Tick at);
  [[nodiscard]] bool evictable(Slot slot) const;
  void send(int receiver, const NetworkMessage& message, Slot slot, Tick ready);
  [[noreturn]] void fail(const std::string& what, Slot slot) const;

  const Place place_;
  const MachineLayout::Place above_;
  const Protocol& protocol_;
  const ControllerRules rules_;
  LineStore& store_;
  TransitionLog& log_;
  Network& network_;
  Bus* bus_ = nullptr;
  Tick latency_;        // time of a pass through the controller
  Tick cache_latency_;  // time from look-up to first data
  LinePlaces places_;

  std::vector<Line> lines_;  // indexed by slot
  KeptData data_;
  std::vector<BusRequest> deferred_;  // deferred requests, in the order in which they will be posted again
  std::vector<PacketIndex> stalled_;  // messages in the order of arrival
};

}  // namespace linebounce
