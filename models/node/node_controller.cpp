#include "models/node/node_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/failure.hpp"

namespace linebounce {

// Carries out those actions of a step that do not change the line's entry.
struct NodeController::Outbox {
  NodeController& node;
  Slot slot;
  Tick at;                          // the step's time
  Tick ready;                       // when the messages that the step sends leave
  LineData in_hand;                 // the data of the received message, or the data on the bus
  std::optional<Source> from = {};  // the supplier of the message's data

  void send_member(int, const NetworkMessage&) {}
  [[nodiscard]] static int members() { return 0; }
  void update_memory() {}
  void send_home(const NetworkMessage& message) { node.send(node.above_.parent, message, slot, ready); }
  void send(int agent, const NetworkMessage& message) {
    const MachineLayout& layout = node.network_.layout();
    const bool in_group = node.above_.parent >= 0;
    const std::vector<int>& peers = in_group ? layout.group_at(node.above_.parent).members : layout.agents;
    const bool itself = in_group && agent == kGroupItself;
    node.send(itself ? node.above_.parent : peers[agent], message, slot, ready);
  }
  void take_data() {
    node.take(slot, in_hand);
    if (StepListener* listener = node.log_.listener(); listener != nullptr) [[unlikely]]
      listener->data_taken(at, {Endpoint::Kind::controller, node.place_.bus}, node.store_.line(slot),
                           {in_hand.bytes, static_cast<std::size_t>(node.store_.line_bytes())});
    if (from) node.lines_[slot].source = *from;
  }
  void run() {
    Line& line = node.lines_[slot];
    line.running = true;
    node.bus_->post({.stamp = ready,
                     .client = line.entry.member,
                     .line = node.store_.line(slot),
                     .slot = slot,
                     .message = line.asked,
                     .kind = BusRequest::Kind::run});
  }
  void recall(MessageId message) {
    node.bus_->post({.stamp = ready,
                     .client = kMemory,
                     .line = node.store_.line(slot),
                     .slot = slot,
                     .message = message,
                     .kind = BusRequest::Kind::recall});
  }
  void complete() {}
  void free() {}
  void on_transition(StateId state, EventId event) {
    node.on_transition(slot, state, event, node.protocol_.node.row(state, event).next, at);
  }
};

NodeController::NodeController(sc_core::sc_module_name name, Place place, const MachineContext& machine,
                               const Protocol& protocol, Network& network)
    : sc_module(name),
      bus("bus"),
      place_(place),
      above_(network.layout().place_of_bus[place.bus]),
      protocol_(protocol),
      rules_(protocol, Controller::node),
      store_(machine.store),
      log_(machine.log),
      network_(network),
      latency_(machine.timebase.from_ns(machine.spec.node.latency_ns)),
      cache_latency_(machine.timebase.from_ns(machine.spec.node.cache_latency_ns)),
      data_(store_.line_bytes()) {
  const NodeSpec& spec = machine.spec.node;
  const bool evicts = rules_.eviction(Storage::cache) != nullptr;
  if (spec.cache_size_kib > 0 && evicts) {
    places_ = LinePlaces(
        CacheSpec{.name = "node", .size_kib = spec.cache_size_kib, .ways = spec.cache_ways, .line_bytes = store_.line_bytes()});
  }
}

NodeController::Line& NodeController::line(Slot slot) {
  if (slot >= lines_.size()) lines_.resize(std::max<std::size_t>(slot + 1, lines_.size() * 2));
  return lines_[slot];
}

LineData NodeController::data(Slot slot) {
  const Line& line = lines_[slot];
  if (line.data == KeptData::kNone) fail("the node controller has no data to send", slot);
  return {data_.bytes(line.data), line.version};
}

void NodeController::take(Slot slot, const LineData& data) {
  Line& line = lines_[slot];
  data_.put(line.data, data.bytes);
  line.version = data.version;
}

bool NodeController::grants(const BusRequest& request, Slot slot, Tick at) {
  Line& asked = line(slot);
  if (protocol_.node.base_events[ask_event(protocol_.bus_messages, request.message)].absent) return true;
  const bool fresh = asked.entry.state == 0;
  Outbox out{*this, slot, at, at + latency_, {}};
  const Permission permission = ask_step(rules_, asked.entry, above_.number, request.message, request.client, out);
  if (permission.saved) asked.asked = request.message;
  if (!permission.granted && !permission.saved) deferred_.push_back(request);
  if (fresh && asked.entry.state != 0) {
    find_place(slot, at);
  } else {
    places_.use(request.line, at);
  }
  return permission.granted;
}

bool NodeController::evictable(Slot slot) const {
  return rules_.can_evict(lines_[slot].entry, Storage::cache);
}

void NodeController::find_place(Slot slot, Tick at) {
  const auto evict = [this, at](Slot victim) {
    Outbox out{*this, victim, at, at + latency_, {}};
    evict_step(rules_, lines_[victim].entry, above_.number, Storage::cache, out);
  };
  places_.give(
      store_.line(slot), slot, at, [this](Slot other) { return evictable(other); }, evict);
}

void NodeController::act(Slot slot, Action action, const BusRequest& request, const LineData& on_bus, Tick at) {
  Line& acting = line(slot);
  Outbox out{*this, slot, at, at + latency_, on_bus};
  if (action.verb == Verb::save_asker) acting.asked = request.message;
  ControllerStep(rules_, acting.entry, above_.number, {.side = Side::member, .bus_member = request.client}, out).act(action);
}

void NodeController::on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) {
  log_.record(at, Controller::node, place_.bus, store_.line(slot), state, event, next);
}

MemorySide::Supply NodeController::read(Slot slot, Tick address_at) {
  const Line& supplying = lines_[slot];
  if (supplying.running) return {address_at, supplying.source};  // the data has arrived and waits in the controller
  return {address_at + cache_latency_, Source::node_cache};
}

void NodeController::recalled(Slot slot, MessageId message, bool owned, const LineData& data, Tick at, Tick data_at) {
  Outbox out{*this, slot, at, data_at + latency_, data};
  controller_step(rules_, lines_[slot].entry, above_.number, recalled_event(protocol_.bus_messages, message), {.owned = owned},
                  out);
}

void NodeController::order_over(Slot slot, Tick at) {
  settle(slot, at);
}

void NodeController::receive(PacketIndex index, Tick at) {
  const Slot slot = network_.packet(index).slot;
  const auto same_line = [&](PacketIndex other) {
    return network_.packet(other).slot == slot && network_.packet(other).message_class == network_.packet(index).message_class;
  };
  if (std::any_of(stalled_.begin(), stalled_.end(), same_line) || !process(index, at)) {
    stalled_.push_back(index);
    return;
  }
  settle(slot, at);
}

// Returns false if the message must stall.
bool NodeController::process(PacketIndex index, Tick at) {
  const Packet packet = network_.packet(index);
  Line& receiving = line(packet.slot);
  Outbox out{*this, packet.slot, at, at + latency_, {network_.data(index), packet.version}};
  if (packet.carries_data) {
    const bool local = packet.origin_node == place_.node;
    out.from = packet.from_cache ? (local ? Source::local_c2c : Source::remote_c2c)
                                 : (local ? Source::local_memory : Source::remote_memory);
    if (packet.shared_cache && local) out.from = Source::node_cache;
  }
  try {
    const StepResult result = message_step(rules_, receiving.entry, above_.number, Side::outside, packet.message, out);
    if (result == StepResult::stalled) return false;
  } catch (const ProtocolFault& fault) {
    fail(fault.what(), packet.slot);
  }
  network_.free(index);
  return true;
}

// Retries the line's stalled messages and deferred requests, since the line's state may have changed.
void NodeController::settle(Slot slot, Tick at) {
  for (bool more = true; more;) {
    const auto waiting =
        std::find_if(stalled_.begin(), stalled_.end(), [&](PacketIndex index) { return network_.packet(index).slot == slot; });
    more = waiting != stalled_.end() && process(*waiting, at);
    if (more) stalled_.erase(waiting);
  }
  Line& settled = lines_[slot];
  const StateInfo& state = protocol_.node.states[settled.entry.state];
  if (!state.holds_data) data_.drop(settled.data);
  if (!state.stable) return;
  settled.running = false;
  const LineAddr line = store_.line(slot);
  if (settled.entry.state == 0) places_.take_back(line);
  for (BusRequest& request : deferred_) {
    if (request.line != line) continue;
    request.stamp = at;
    bus_->post(request);
  }
  std::erase_if(deferred_, [line](const BusRequest& request) { return request.line == line; });
}

void NodeController::send(int receiver, const NetworkMessage& message, Slot slot, Tick ready) {
  const Message& kind = protocol_.messages[protocol_.bus_messages + message.message];
  const Line& sending = lines_[slot];
  Packet packet{.message = message,
                .message_class = kind.message_class,
                .slot = slot,
                .line = store_.line(slot),
                .sender = place_.bus,
                .receiver = receiver,
                .carries_data = kind.carries_data,
                .from_cache = true,
                .origin_node = place_.node,
                .version = sending.version};
  const std::byte* bytes_sent = kind.carries_data ? data(slot).bytes : nullptr;
  network_.send(network_.make(packet, bytes_sent), ready);
}

std::string NodeController::describe_pending() const {
  std::string text;
  for (Slot slot = 0; slot < lines_.size(); ++slot) {
    const StateInfo& state = protocol_.node.states[lines_[slot].entry.state];
    if (state.stable) continue;
    text += fmt::format("  node controller {}: line 0x{:x} is in {}, asked for by cache {}\n", place_.bus,
                        store_.address_of(store_.line(slot)), state.name, lines_[slot].entry.member);
  }
  for (const BusRequest& request : deferred_) {
    text += fmt::format("  node controller {}: {} of cache {} for line 0x{:x} is put off\n", place_.bus,
                        protocol_.messages[request.message].name, request.client, store_.address_of(request.line));
  }
  return text;
}

void NodeController::fail(const std::string& what, Slot slot) const {
  log_.fail(what, store_.line(slot), store_.address_of(store_.line(slot)));
}

}  // namespace linebounce
