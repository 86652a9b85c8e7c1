// The controllers on the network. They form a tree, whose root is the directory of each line's home:
//
//                        towards the cores          towards memory                     protocol's table
//   node's controller    BusSide: memory to a bus   a member of its parent             node
//   group's controller   its members                a member of its parent             group
//   directory            its members                HomeMemory: its node's memory      directory
//
// A parent is a group or, at the top, the directories. Members are controllers of nodes, or smaller groups. All controllers
// receive, stall and retry messages in the same way, and run the rows of their tables with controller_step.hpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/bus/bus_client.hpp"
#include "models/coherence/transition_log.hpp"
#include "models/network/network.hpp"
#include "models/node/home_memory.hpp"
#include "models/node/kept_data.hpp"
#include "models/node/line_places.hpp"

namespace linebounce {

class BusSide;

class CoherenceController final : public NetworkEndpoint {
 public:
  // `number` is the bus, the directory's node, or the group's index in MachineLayout::groups. REQUIRES: `kind` is node,
  // directory or group.
  CoherenceController(Controller kind, int number, const MachineContext& machine, const Protocol& protocol, Network& network);
  ~CoherenceController() override;

  // REQUIRES: the controller is a node's.
  [[nodiscard]] BusSide& bus_side() { return *bus_side_; }

  // REQUIRES: the controller is a directory; called before the simulation starts; `timing` outlives it.
  void set_memory(MemoryTiming& timing) { home_->set_timing(timing); }

  void receive(Packet& packet, Tick at) override;

  [[nodiscard]] std::string describe_pending() const;

 private:
  friend class BusSide;
  struct Outbox;

  // A bit set of what the controller must keep for a line. Bit n stands for a slot in Storage n, kNeedsData for the line's
  // data. The needs follow from the entry's state and from whether the entry has sharers, because the guards of evictions ask
  // for nothing else.
  using Needs = std::uint8_t;
  static constexpr Needs kNeedsData = 1U << kStorages;

  // The controller's place in the tree. Parent, peers and members are endpoints of the network.
  struct Place : MachineLayout::Place {
    int node;
    int endpoint;
    std::span<const int> peers;    // the agents of the parent, this controller among them
    std::span<const int> members;  // empty for a node's controller, whose members are the caches on its bus
  };
  static Place place_of(const Network& network, Controller kind, int number);

  [[nodiscard]] bool is_blocked(const Packet& packet) const;
  [[nodiscard]] bool waits_for_turn(Packet& packet, Tick at);
  [[nodiscard]] bool process(Packet& packet, Tick at);
  StepResult step(std::size_t base, Outbox& out);
  void send_held_back(int requester);
  [[nodiscard]] Needs needs_of(const ControllerEntry& entry) const;
  // Keeps what the line's entry needs now, and drops the rest. `used`: a member has just used the line.
  void keep(Slot slot, bool used, Tick at) {
    const ControllerEntry& entry = entries_[slot];
    const Needs now = needs_[entry.state][entry.sharers != 0 ? 1 : 0];
    const Needs before = std::exchange(met_[slot], now);
    if (now != before || (used && !places_.empty())) change_needs(slot, before, used, at);
  }
  [[gnu::noinline]] void change_needs(Slot slot, Needs before, bool used, Tick at);
  void find_place(LinePlaces& places, Slot slot, Tick at);
  void settle(Slot slot, Tick at);
  [[gnu::noinline]] void retry(Slot slot, Tick at);
  [[nodiscard]] bool retry_one(Slot slot, Tick at);

  // Makes room for the line's entry, and for the line in the other tables that are indexed by slot.
  void make_room(Slot slot) {
    if (slot >= entries_.size()) grow(slot);
  }
  void grow(Slot slot);
  [[nodiscard]] const StateInfo& state(Slot slot) const { return rules_.table->states[entries_[slot].state]; }
  [[nodiscard]] LineData data(Slot slot);
  [[noreturn]] void fail(const char* what, Slot slot) const;

  const Endpoint name_;
  const Place place_;
  const ControllerRules rules_;
  LineStore& store_;
  TransitionLog& log_;
  Network& network_;
  Tick latency_ = 0;                   // time of a pass through the controller, with a directory's look-up
  bool passes_while_stalled_ = false;  // of a stalled message: the pass begins when the message arrives
  Tick cache_latency_ = 0;             // time from look-up to first data
  std::unique_ptr<BusSide> bus_side_;
  std::optional<HomeMemory> home_;
  std::vector<std::array<Needs, 2>> needs_;  // indexed by state and by whether there are sharers

  std::vector<ControllerEntry> entries_;  // indexed by slot
  // Indexed by slot: the needs of the latest keep(), plus kNeedsData if data has come since. Storage of limited size may lack
  // a slot for the line in spite of the need, if there was no room.
  std::vector<Needs> met_;
  KeptData kept_;                   // unused by a directory, whose data is in HomeMemory
  std::vector<LinePlaces> places_;  // the storage of limited size
  std::vector<Packet*> stalled_;    // messages in the order of arrival
  // A home that broadcasts keeps a step's messages here until the step ends, with the time when each leaves. Only then is it
  // known whether the step has taken copies, which delays the answer.
  std::vector<std::pair<Packet*, Tick>> held_back_;
};

// The side of a node's controller towards its bus.
class BusSide final : public MemorySide {
 public:
  explicit BusSide(CoherenceController& controller) : controller_(controller) {}

  // REQUIRES: called before the simulation starts.
  void connect(Bus& bus) {
    bus_ = &bus;
    deferred_first_ = bus.protocol().has_far_atomics();
  }

  // Overrides of MemorySide:
  bool grants(const BusRequest& request, Slot slot, Tick at) override;
  [[nodiscard]] StateId state(Slot slot) const override { return controller_.entries_[slot].state; }
  void set_state(Slot slot, StateId state) override { controller_.entries_[slot].state = state; }
  [[nodiscard]] LineData data(Slot slot) override { return controller_.data(slot); }
  void take(Slot slot, const LineData& data) override { controller_.kept_.put(slot, data); }
  void act(Slot slot, Action action, const BusRequest& request, const LineData& on_bus, Tick at) override;
  void on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) override;
  Supply read(Slot slot, Tick address_at) override;
  [[nodiscard]] Tick read_latency() const override { return controller_.cache_latency_; }
  void write(Slot, Tick) override {}
  void recalled(Slot slot, MessageId message, bool owned, const LineData& data, Tick at, Tick data_at, StageId stage,
                const Waits& waits) override;
  void order_over(Slot slot, Tick at) override;

  void resize(std::size_t slots) { lines_.resize(slots); }
  // Puts the saved transaction on the bus again, as a granted one.
  void run(Slot slot, Tick at, StageId stage, const Waits& waits);
  // Puts the controller's own `message` on the bus. `since`: when its forward had passed through the controller; it may have
  // been stalled then.
  void recall(Slot slot, MessageId message, Tick at, Tick since, StageId stage, const Waits& waits);
  // Called when the line's state is stable: the line's deferred requests go to the bus again.
  void transaction_over(Slot slot, Tick at) {
    lines_[slot].running = false;
    if (!deferred_.empty()) [[unlikely]]
      ask_again(slot, at);
  }

  [[nodiscard]] std::string describe_deferred() const;

 private:
  void defer(const BusRequest& request, Tick at);
  [[gnu::noinline]] void ask_again(Slot slot, Tick at);

  struct Line {
    MessageId asked = 0;   // the message of the transaction that the controller saved
    bool running = false;  // true from run() until the line's state is stable again
    int asking_again = 0;  // the number of deferred requests that are on the bus again
  };

  CoherenceController& controller_;
  Bus* bus_ = nullptr;
  // True if the controller asks the home for a new request only after those of its line that were deferred and are on the bus
  // again. Without this rule, CPUs that repeat far atomics starve a store of their node: the next atomic needs no copy of the
  // line, so it is on the bus before the store asks again. Other requests follow only the loss of a copy (docs/warts.md).
  bool deferred_first_ = false;
  std::vector<Line> lines_;           // indexed by slot
  std::vector<BusRequest> deferred_;  // deferred requests, in the order in which they will be posted again
};

}  // namespace linebounce
