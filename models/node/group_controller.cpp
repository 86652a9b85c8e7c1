#include "models/node/group_controller.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/failure.hpp"

namespace linebounce {

// Carries out those actions of a step that do not change the line's entry.
struct GroupController::Outbox {
  GroupController& group;
  Slot slot;
  Tick at;
  const Packet* packet;    // the message being processed, or null
  const std::byte* bytes;  // the packet's data
  Side side;

  void send_home(const NetworkMessage& message) { post_outside(group.place_.parent, message); }
  void send(int agent, const NetworkMessage& message) {
    const MachineLayout& layout = group.network_.layout();
    if (group.place_.parent < 0) return post_outside(layout.agents[agent], message);
    const MachineLayout::Group& parent = layout.group_at(group.place_.parent);
    post_outside(agent == kGroupItself ? group.place_.parent : parent.members[agent], message);
  }
  // Passes on the data of a response from outside the group; other data sent to a member comes from the group's cache.
  void send_member(int member, const NetworkMessage& message) {
    const bool passed_on = side == Side::outside && packet->message_class == MessageClass::response;
    const Origin own{true, true, group.place_.node};
    post(group.place_.members[member], message, passed_on ? group.lines_[slot].origin : own, !passed_on);
  }
  void post_outside(int receiver, const NetworkMessage& message) {
    const bool in_hand = packet != nullptr && packet->carries_data;  // true if the message being processed brings the data
    post(receiver, message, {false, true, group.place_.node}, !in_hand);
  }
  [[nodiscard]] static int members() { return 0; }
  void update_memory() {}
  void run() {}
  void recall(MessageId) {}
  void complete() {}
  void free() {}
  void take_data() {
    Line& line = group.lines_[slot];
    group.data_.put(line.data, bytes);
    if (StepListener* listener = group.log_.listener(); listener != nullptr) [[unlikely]]
      listener->data_taken(at, {Endpoint::Kind::group, group.number_}, packet->line,
                           {bytes, static_cast<std::size_t>(group.store_.line_bytes())});
    line.version = packet->version;
    line.origin = {packet->shared_cache, packet->from_cache, packet->origin_node};
  }
  void on_transition(StateId state, EventId event) {
    group.log_.record(at, Controller::group, group.number_, group.store_.line(slot), state, event,
                      group.protocol_.group.row(state, event).next);
  }

  void post(int receiver, const NetworkMessage& message, const Origin& origin, bool out_of_cache) {
    const Message& kind = group.protocol_.messages[message.message];
    const Line& line = group.lines_[slot];
    if (kind.carries_data && line.data == KeptData::kNone) group.fail("the group's controller has no data to send", slot);
    const Packet sent{.message = message,
                      .message_class = kind.message_class,
                      .slot = slot,
                      .line = group.store_.line(slot),
                      .sender = group.endpoint_,
                      .receiver = receiver,
                      .carries_data = kind.carries_data,
                      .from_cache = origin.from_cache,
                      .shared_cache = origin.shared,
                      .origin_node = origin.node,
                      .version = line.version};
    const Tick looked_up = kind.carries_data && out_of_cache ? group.cache_latency_ : 0;
    const std::byte* data = kind.carries_data ? group.data_.bytes(line.data) : nullptr;
    group.network_.send(group.network_.make(sent, data), at + group.latency_ + looked_up);
  }
};

GroupController::GroupController(sc_core::sc_module_name name, int number, const MachineContext& machine,
                                 const Protocol& protocol, Network& network)
    : sc_module(name),
      number_(number),
      place_(network.layout().groups[number]),
      endpoint_(network.layout().first_group() + number),
      protocol_(protocol),
      rules_(protocol, Controller::group),
      store_(machine.store),
      log_(machine.log),
      network_(network),
      data_(store_.line_bytes()) {
  const GroupSpec& own = machine.spec.groups[place_.level];
  latency_ = machine.timebase.from_ns(own.latency_ns);
  cache_latency_ = machine.timebase.from_ns(own.cache_latency_ns);
  if (own.size_kib > 0) {
    cache_places_ =
        LinePlaces(CacheSpec{.name = own.name, .size_kib = own.size_kib, .ways = own.ways, .line_bytes = store_.line_bytes()});
  }
  if (own.filter_entries > 0) filter_places_ = LinePlaces::of_entries(own.filter_entries, own.filter_ways);
}

GroupController::Line& GroupController::line(Slot slot) {
  if (slot >= lines_.size()) lines_.resize(std::max<std::size_t>(slot + 1, lines_.size() * 2));
  return lines_[slot];
}

Side GroupController::side_of(const Packet& packet) const {
  const auto& members = place_.members;
  const bool inside = std::find(members.begin(), members.end(), packet.sender) != members.end();
  return inside ? Side::member : Side::outside;
}

void GroupController::receive(PacketIndex index, Tick at) {
  const Packet& packet = network_.packet(index);
  const Slot slot = packet.slot;
  // A stalled forward blocks later forwards of its line. Stalled requests of members block nothing, and a Put never stalls.
  const auto before = [&](PacketIndex other) {
    return network_.packet(other).slot == slot && network_.packet(other).message_class == MessageClass::forward;
  };
  const bool blocked = packet.message_class == MessageClass::forward && std::any_of(stalled_.begin(), stalled_.end(), before);
  if (blocked || !process(index, at)) {
    stalled_.push_back(index);
    return;
  }
  settle(slot, at);
}

// Returns false if the message must stall.
bool GroupController::process(PacketIndex index, Tick at) {
  const Packet packet = network_.packet(index);
  line(packet.slot);
  const Side side = side_of(packet);
  if (step(packet.slot, rules_.event_of(side, packet.message.message), side, &packet, network_.data(index), at) ==
      StepResult::stalled)
    return false;
  network_.free(index);
  return true;
}

StepResult GroupController::step(Slot slot, std::size_t base, Side side, const Packet* packet, const std::byte* data, Tick at) {
  const bool cached = rules_.occupies(lines_[slot].entry, Storage::cache);
  const bool filtered = rules_.occupies(lines_[slot].entry, Storage::entries);
  Outbox out{*this, slot, at, packet, data, side};
  StepResult result{};
  try {
    const NetworkMessage* in = packet == nullptr ? nullptr : &packet->message;
    result = controller_step(rules_, lines_[slot].entry, place_.number, base, {.side = side, .in = in}, out);
  } catch (const ProtocolFault& fault) {
    fail(fault.what(), slot);
  }
  if (result == StepResult::stalled) return result;
  Line& stepped = lines_[slot];
  if (!protocol_.group.states[stepped.entry.state].holds_data) data_.drop(stepped.data);
  const bool used = side == Side::member;
  keep_place(cache_places_, Storage::cache, slot, cached, used, at);
  keep_place(filter_places_, Storage::entries, slot, filtered, used, at);
  return result;
}

// Gives the line a storage slot if it needs one now, frees the slot if it no longer does, or marks the slot as used if `used`.
void GroupController::keep_place(LinePlaces& places, Storage of, Slot slot, bool had, bool used, Tick at) {
  const LineAddr line = store_.line(slot);
  if (!rules_.occupies(lines_[slot].entry, of)) {
    if (had) places.take_back(line);
  } else if (!had) {
    const auto evictable = [&](Slot other) { return rules_.can_evict(lines_[other].entry, of); };
    places.give(line, slot, at, evictable, [&](Slot victim) {
      step(victim, rules_.eviction(of) - rules_.table->base_events.data(), Side::itself, nullptr, nullptr, at);
    });
  } else if (used) {
    places.use(line, at);
  }
}

// Retries the line's stalled messages, forwards first, since the line's state may have changed.
void GroupController::settle(Slot slot, Tick at) {
  const auto next = [&](bool forwards, std::size_t from) {
    for (std::size_t i = from; i < stalled_.size(); ++i) {
      const Packet& packet = network_.packet(stalled_[i]);
      if (packet.slot == slot && (packet.message_class == MessageClass::forward) == forwards) return i;
    }
    return stalled_.size();
  };
  for (bool more = true; more;) {
    more = false;
    if (const std::size_t forward = next(true, 0); forward < stalled_.size() && process(stalled_[forward], at)) {
      stalled_.erase(stalled_.begin() + static_cast<std::ptrdiff_t>(forward));
      more = true;
      continue;
    }
    for (std::size_t i = next(false, 0); i < stalled_.size() && !more; i = next(false, i + 1)) {
      if (!process(stalled_[i], at)) continue;
      stalled_.erase(stalled_.begin() + static_cast<std::ptrdiff_t>(i));
      more = true;
    }
  }
}

std::string GroupController::describe_pending() const {
  std::string text;
  for (Slot slot = 0; slot < lines_.size(); ++slot) {
    const StateInfo& state = protocol_.group.states[lines_[slot].entry.state];
    if (state.stable) continue;
    text += fmt::format("  group {}: line 0x{:x} is in {}, asked for by member {}\n", number_,
                        store_.address_of(store_.line(slot)), state.name, lines_[slot].entry.member);
  }
  for (const PacketIndex index : stalled_) {
    const Packet& packet = network_.packet(index);
    text += fmt::format("  group {}: {} of endpoint {} for line 0x{:x} waits\n", number_,
                        protocol_.messages[packet.message.message].name, packet.sender, store_.address_of(packet.line));
  }
  return text;
}

void GroupController::fail(const std::string& what, Slot slot) const {
  log_.fail(what, store_.line(slot), store_.address_of(store_.line(slot)));
}

}  // namespace linebounce
