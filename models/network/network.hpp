// The network between the nodes, and the way from a node's controllers to its own directory. It carries packets from one
// endpoint to another and is the only process among them, so that what happens at one time has one order: by time, then by
// sender.
//
//   sender --(own node)-----------------------------------------------------> pass of the node's controller -> receiver
//   sender -- crossing stage of its node --> links, each with its bandwidth --> pass of the controller -------> receiver
//
// Packets of one class from one sender to one receiver stay in order. Each class has buffers of its own at the end of each
// link.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <vector>

#include "models/coherence/network_order.hpp"
#include "models/coherence/step_listener.hpp"
#include "models/event_scheduler.hpp"
#include "models/failure.hpp"
#include "models/machine_context.hpp"
#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "models/network/calendar.hpp"
#include "models/network/group_timing.hpp"
#include "models/network/topology.hpp"
#include "models/timebase.hpp"
#include "models/timeline.hpp"

namespace linebounce {

using PacketIndex = std::uint32_t;

struct Packet {
  NetworkMessage message;
  MessageClass message_class = MessageClass::request;
  Slot slot = 0;
  LineAddr line;
  int sender = 0;     // an endpoint
  int receiver = -1;  // an endpoint; -1: the directory of the line's home
  bool carries_data = false;
  bool from_cache = false;    // the data's origin: a cache (or a node controller), or memory
  bool shared_cache = false;  // a cache that a group shares
  int origin_node = 0;
  Version version = 0;
  // Where it is on its way.
  int at = 0;              // a node, or a place of the map between nodes
  int to = -1;             // its receiver's node
  int held_link = -1;      // it occupies a buffer at this link's end
  std::uint32_t told = 0;  // its number at a StepListener
  bool has_turn = false;   // at the directory: nobody's request for the line is before it
};

class NetworkEndpoint : public virtual sc_core::sc_interface {
 public:
  // REQUIRES: the receiver frees the packet when it needs it no longer.
  virtual void receive(PacketIndex packet, Tick at) = 0;
};

struct NetworkTiming {
  NetworkTiming(const NodeSpec& spec, const Timebase& timebase);
  Tick occupancy;  // of a controller, for a pass
  Tick request_crossing, line_crossing;
};

struct LinkStatistics {
  int from = 0;
  int to = 0;
  Tick busy = 0;           // of the measured time
  std::int64_t bytes = 0;  // carried in the measured time: headers and lines
};

// Its turn is the last at any time: what buses and cores do then is known before anything arrives.
class Network final : public sc_core::sc_module, public EventScheduler::Part {
 public:
  Network(sc_core::sc_module_name name, const MachineContext& machine);

  // One for each bus, then one for each node's directory, then one for each group.
  sc_core::sc_port<NetworkEndpoint, 0> endpoints;
  void end_of_elaboration() override;

  // Who hears of every packet; null: nobody.
  void set_listener(StepListener* listener) { listener_ = listener; }
  // REQUIRES: the simulation has not started.
  void set_timeline(Timeline& timeline) { timeline_ = &timeline; }

  [[nodiscard]] const MachineLayout& layout() const { return layout_; }
  [[nodiscard]] int directory_of(int node) const { return static_cast<int>(layout_.cores_on_bus.size()) + node; }

  // A new packet; `data`, if it carries any, is copied.
  PacketIndex make(const Packet& packet, const std::byte* data);
  [[nodiscard]] Packet& packet(PacketIndex index) { return packets_[index]; }
  [[nodiscard]] const std::byte* data(PacketIndex index) const { return data_[index].get(); }
  void free(PacketIndex index) { free_.push_back(index); }

  // The packet leaves its sender at `ready`, which lies behind the kernel's time, but not before an earlier one of its class to
  // the same receiver.
  void send(PacketIndex index, Tick ready);

  // Its receiver gets it once more, at `at`. REQUIRES: later than now.
  void requeue(PacketIndex index, Tick at) { push(at, Stage::handle, index); }

  [[nodiscard]] std::vector<LinkStatistics> links() const;
  [[nodiscard]] std::int64_t activations() const { return activations_; }
  [[nodiscard]] std::string describe_pending() const;

 private:
  enum class Stage : std::uint8_t { depart, link, arrive, handle, credit };
  struct Item {
    Tick at;
    std::uint64_t order;  // among those of one time: by sender, then as they were sent
    std::uint32_t what;   // the packet; of a credit the link and class, as release_link() numbers them
    Stage stage;
    [[nodiscard]] bool operator>(const Item& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  struct LinkState {
    int from, to;
    Tick latency;
    std::array<Tick, 2> occupancy;  // by a message without and with a line; 0: no limit
    Tick free = 0;
    Tick busy = 0;
    std::int64_t bytes = 0;
    std::array<int, kMessageClasses> in_use{};  // buffers at its end, by class; until their credit is back
    std::array<std::deque<PacketIndex>, kMessageClasses> waiting{};
  };

  // Of a node, for all that leaves it.
  struct CrossingStage {
    Tick free = 0;
    LineAddr line;  // that crossed last, when it was ready, and to which node
    Tick line_at = -1;
    int line_to = -1;
  };

  void turn() override;
  void schedule();
  void push(Tick at, Stage stage, PacketIndex index);
  void run(const Item& item);
  void depart(PacketIndex index, Tick at);
  void take_link(PacketIndex index, Tick at);
  void arrive(PacketIndex index, Tick at);
  void release_link(Packet& packet, Tick at);
  void take_credit(std::uint32_t buffer, Tick at);
  void go(PacketIndex index, int link, Tick at);
  void tell_departure(Packet& packet, Tick at) const;
  [[nodiscard]] Endpoint named(int endpoint) const;
  [[nodiscard]] Tick bytes_of(bool with_line) const {
    return spec_.header_bytes + (with_line ? static_cast<Tick>(line_bytes_) : 0);
  }
  [[nodiscard]] int node_of(int endpoint) const { return nodes_[static_cast<std::size_t>(endpoint)]; }
  [[nodiscard]] std::size_t controller_of(int endpoint) const;

  const NetworkSpec& spec_;
  const NetworkTiming timing_;
  const MachineLayout& layout_;
  LineStore& store_;
  Homes& homes_;
  FailureSink& failures_;
  Tick warmup_end_;
  Tick end_;
  std::size_t line_bytes_;
  std::vector<int> nodes_;  // by endpoint
  std::vector<NetworkEndpoint*> endpoints_;

  std::vector<Packet> packets_;
  std::vector<std::uint64_t> orders_;               // by packet: its place among those of one time
  std::vector<std::unique_ptr<std::byte[]>> data_;  // by packet
  std::vector<PacketIndex> free_;
  Calendar<Item> calendar_;
  std::vector<std::uint32_t> sent_;       // by sender: how many packets
  std::vector<Tick> last_ready_;          // by sender, receiver and class: its latest packet's
  std::vector<CrossingStage> crossings_;  // by node
  GroupTiming groups_;
  std::vector<Tick> controller_free_;  // by controller_of()
  NetworkMap map_;
  std::vector<LinkState> links_;
  std::vector<std::vector<Tick>> pair_costs_;  // [from][to], by node
  Timeline* timeline_ = nullptr;
  StepListener* listener_ = nullptr;
  std::int64_t activations_ = 0;
};

}  // namespace linebounce
