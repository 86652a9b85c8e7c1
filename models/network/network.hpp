// The network between the nodes, and the path from a node's controllers to its own directory. Only the network moves packets
// between endpoints, so all packets' events have one order: by time, then by sender. The messages that leave a node pass its
// crossing stage one after the other (see NodeSpec). A controller takes in one message at a time.
//
//   within a node:  sender --------------------------------------------------------------> receiver's controller
//   between nodes:  sender -- its node's crossing stage --> links, each with its bandwidth --> receiver's controller
//
// Packets of one class from one sender to one receiver stay in order. Each class has its own buffers at the end of each link.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/busy_time.hpp"
#include "models/coherence/controller_step.hpp"
#include "models/coherence/transition_log.hpp"
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

// Where a line's data came from.
struct DataOrigin {
  int node = 0;
  bool from_cache = false;  // true if a cache, a node controller or a group supplied the data; false if memory did
  bool shared = false;      // true if the data was in a cache that a group shares
};

// A message in the network. Network::make() creates the packet, and the sender sets the members up to the position on the
// way.
struct Packet {
  NetworkMessage message;
  MessageClass message_class = MessageClass::request;
  bool carries_data = false;
  Slot slot = 0;
  LineAddr line;
  int sender = 0;     // the sending endpoint
  int receiver = -1;  // the receiving endpoint; -1: the directory of the line's home
  // origin of the packet's data; unused if the packet carries none
  DataOrigin origin;
  Version version = 0;
  std::unique_ptr<std::byte[]> data;  // room for a line

  StageId stage = kNoStage;  // the latest stage of the transaction that the message belongs to
  Waits waits;               // of that transaction

  bool has_turn = false;  // true once the directory has given this request its turn among the line's requests

  // The packet's position on its way, which only the network knows.
  enum class Move : std::uint8_t { depart, link, arrive, handle, credit };
  Move move = Move::depart;  // the packet's next event; `credit`: not a message, but a credit that returns to a link's sender
  int place = 0;             // the node where the packet is, or the switch of a crossbar
  int to = -1;               // the receiver's node
  int held_link = -1;        // the link at whose end the packet occupies a buffer; -1: none
  std::uint32_t told = 0;    // the message's number in the StepListener's reports
  Tick due = 0;              // the time of the next stage
  std::uint64_t order = 0;   // the tie-breaker for equal times: by sender, then in the order of sending
  Packet* next = nullptr;    // in the calendar, or in the list of unused packets
  [[nodiscard]] bool operator>(const Packet& other) const { return due != other.due ? due > other.due : order > other.order; }
};

class NetworkEndpoint {
 public:
  virtual ~NetworkEndpoint() = default;
  // Receives a packet. REQUIRES: the receiver frees the packet with Network::free() after use.
  virtual void receive(Packet& packet, Tick at) = 0;
};

struct NetworkTiming {
  NetworkTiming(const NodeSpec& spec, const Timebase& timebase);
  Tick occupancy;  // how long a message occupies a controller
  Tick request_crossing, line_crossing;
};

struct LinkStatistics {
  int from = 0;
  int to = 0;
  Tick busy = 0;           // how long the link was busy in the measured time
  std::int64_t bytes = 0;  // headers and lines that the link carried in the measured time
};

// At equal times the network takes its turn after all other parts, so that buses and cores act before any message arrives.
class Network final : public EventScheduler::Part {
 public:
  explicit Network(const MachineContext& machine);

  // `number`: node controllers come first, by bus, then directories by node, then groups. REQUIRES: called once for each
  // number, before the simulation starts; the endpoint outlives the network's last turn.
  void connect(int number, NetworkEndpoint& endpoint) { ports_[number].endpoint = &endpoint; }

  // REQUIRES: the simulation has not started.
  void set_timeline(Timeline& timeline) { timeline_ = &timeline; }

  [[nodiscard]] const MachineLayout& layout() const { return layout_; }
  [[nodiscard]] int directory_of(int node) const { return static_cast<int>(layout_.cores_on_bus.size()) + node; }

  [[nodiscard]] int node_of(int endpoint) const { return ports_[endpoint].node; }
  // The travel time of a message without a line from one node to another, if it waits for nothing.
  [[nodiscard]] Tick way(int from, int to) const;

  // Makes a packet without data. It does not move in memory.
  Packet& make();
  void free(Packet& packet) {
    packet.next = unused_;
    unused_ = &packet;
  }

  // Sends a packet at `ready`, but not before an earlier packet of its class from the same sender to the same receiver.
  // REQUIRES: `ready` is later than now.
  void send(Packet& packet, Tick ready);

  // Delivers the packet to its receiver again, at `at`. REQUIRES: `at` is later than now.
  void requeue(Packet& packet, Tick at) { push(packet, at, Packet::Move::handle); }

  [[nodiscard]] std::vector<LinkStatistics> links(Tick end) const;
  [[nodiscard]] std::int64_t activations() const { return activations_; }
  [[nodiscard]] std::string describe_pending() const;
  // One text that reports packets that were not freed, bytes that links did not move and credits still owed; empty if there
  // are none. REQUIRES: all programs have ended, and no part wants another turn.
  [[nodiscard]] std::string describe_lost() const;

 private:
  using Move = Packet::Move;

  // An endpoint, and the network's record of it.
  struct Port {
    NetworkEndpoint* endpoint = nullptr;
    int node = 0;
    Tick occupancy = 0;          // how long a message occupies the controller
    std::size_t controller = 0;  // index into controller_free_
    std::uint32_t sent = 0;      // how many packets the endpoint has sent
  };
  struct LinkState {
    int from, to;
    Tick latency;
    std::array<Tick, 2> occupancy;  // how long a message occupies the link: [0] without a line, [1] with one
    Tick free = 0;
    std::int64_t bytes = 0;
    BusyTime<16> busy;
    // By class: how many of the buffers at the link's end are occupied, or freed but not yet credited back.
    std::array<int, kMessageClasses> in_use{};
    std::array<std::deque<Packet*>, kMessageClasses> waiting{};
  };

  // The serial stage of a node that every message leaving the node passes.
  struct CrossingStage {
    Tick free = 0;
    LineAddr line;  // the last line that crossed; line_at: when it was ready; line_to: its destination node
    Tick line_at = -1;
    int line_to = -1;
  };

  void turn() override;
  void push(Packet& packet, Tick at, Move move);
  void run(Packet& packet, Tick at);
  void depart(Packet& packet, Tick at);
  void take_link(Packet& packet, Tick at, bool has_waited);
  void arrive(Packet& packet, Tick at);
  void handle(Packet& packet, Tick at);
  void release_link(Packet& packet, Tick at);
  void take_credit(Packet& credit, Tick at);
  [[gnu::cold]] void tell_departure(Packet& packet, Tick at) const;
  // These functions report stages of the packet's transaction.
  [[gnu::cold]] void tell_wait(Packet& packet, Stage::What what, Endpoint where, Tick from, Tick to, Tick until) const;
  [[gnu::cold]] void tell_link(Packet& packet, const LinkState& link, Tick from, Tick start) const;
  [[gnu::cold]] void tell_arrival(Packet& packet, const Port& port, Tick at, Tick start) const;
  [[nodiscard]] Endpoint named(int endpoint) const;
  [[nodiscard]] Tick bytes_of(bool with_line) const {
    return spec_.header_bytes + (with_line ? static_cast<Tick>(line_bytes_) : 0);
  }

  const NetworkSpec& spec_;
  const NetworkTiming timing_;
  const MachineLayout& layout_;
  LineStore& store_;
  Homes& homes_;
  const TransitionLog& log_;
  Tick end_;
  std::size_t line_bytes_;
  std::vector<Port> ports_;  // of each endpoint

  std::deque<Packet> packets_;  // all packets ever made
  Packet* unused_ = nullptr;    // the first in the list of unused packets
  Calendar<Packet> calendar_;
  std::vector<Tick> last_ready_;          // indexed by sender, receiver and class: when the latest packet was ready
  std::vector<CrossingStage> crossings_;  // the crossing stage of each node
  GroupTiming groups_;
  std::vector<Tick> controller_free_;  // when each controller is free
  NetworkMap map_;
  std::vector<LinkState> links_;
  std::vector<Tick> hops_;                     // [from * nodes + to]: links on the way between two nodes
  std::vector<std::vector<Tick>> pair_costs_;  // [from][to]: the latency added to messages between two nodes
  Timeline* timeline_ = nullptr;
  std::int64_t activations_ = 0;
  // The bytes that packets had to move over links, and those that links have moved.
  std::int64_t bytes_to_move_ = 0, bytes_moved_ = 0;
};

}  // namespace linebounce
