#include "models/node/directory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/failure.hpp"

namespace linebounce {

struct Directory::Outbox {
  Directory& directory;
  const Packet& packet;
  const std::byte* data;  // the packet's data
  Tick at;

  [[nodiscard]] int members() const { return static_cast<int>(directory.network_.layout().agents.size()); }
  void send_home(const NetworkMessage&) {}
  void send(int, const NetworkMessage&) {}
  void take_data() {}
  void run() {}
  void recall(MessageId) {}
  void complete() {}
  void free() {}
  void send_member(int agent, const NetworkMessage& message) {
    const Message& kind = directory.protocol_.messages[message.message];
    const Tick looked_up = at + directory.latency_;
    Packet sent{.message = message,
                .message_class = kind.message_class,
                .slot = packet.slot,
                .line = packet.line,
                .sender = directory.network_.directory_of(directory.node_),
                .receiver = directory.network_.layout().agents[agent],
                .carries_data = kind.carries_data,
                .from_cache = false,
                .origin_node = directory.node_,
                .version = directory.store_.memory_version(packet.slot)};
    const std::byte* bytes = kind.carries_data ? directory.store_.memory_data(packet.slot) : nullptr;
    const Tick ready = kind.carries_data ? directory.memory_.read(packet.line, looked_up) : looked_up;
    directory.network_.send(directory.network_.make(sent, bytes), ready);
  }
  void update_memory() {
    directory.store_.write_memory(packet.slot, data, packet.version);
    if (StepListener* listener = directory.log_.listener(); listener != nullptr) [[unlikely]]
      listener->data_taken(at, {Endpoint::Kind::directory, directory.node_}, packet.line,
                           {data, static_cast<std::size_t>(directory.store_.line_bytes())});
    directory.memory_.write(packet.line, at + directory.latency_);
  }
  void on_transition(StateId state, EventId event) {
    directory.log_.record(at, Controller::directory, directory.node_, packet.line, state, event,
                          directory.protocol_.directory.row(state, event).next);
  }
};

Directory::Directory(sc_core::sc_module_name name, int node, const MachineContext& machine, const Protocol& protocol,
                     Network& network)
    : sc_module(name),
      node_(node),
      protocol_(protocol),
      rules_(protocol, Controller::directory),
      store_(machine.store),
      log_(machine.log),
      network_(network),
      memory_(as_of_node(machine.spec, node).memory, machine.timebase, store_.line_bytes()) {
  const DirectorySpec spec = as_of_node(machine.spec, node).directory;
  latency_ = machine.timebase.from_ns(machine.spec.node.latency_ns) + machine.timebase.from_ns(spec.latency_ns);
  line_busy_ = machine.timebase.from_ns(spec.line_busy_ns);
  if (spec.entries > 0) places_ = LinePlaces::of_entries(spec.entries, spec.ways);
}

ControllerEntry& Directory::entry(Slot slot) {
  if (slot >= entries_.size()) entries_.resize(std::max<std::size_t>(slot + 1, entries_.size() * 2));
  return entries_[slot];
}

// Returns true if earlier requests for the line keep this request waiting. The network delivers it again when they are done.
bool Directory::waits_for_turn(PacketIndex index, Tick at) {
  Packet& packet = network_.packet(index);
  if (line_busy_ == 0 || packet.has_turn || packet.message_class != MessageClass::request) return false;
  if (packet.slot >= line_free_.size()) line_free_.resize(std::max<std::size_t>(packet.slot + 1, line_free_.size() * 2));
  Tick& free = line_free_[packet.slot];
  const Tick turn = std::max(at, free);
  free = turn + line_busy_;
  packet.has_turn = true;
  if (turn == at) return false;
  network_.requeue(index, turn);
  return true;
}

void Directory::receive(PacketIndex index, Tick at) {
  if (waits_for_turn(index, at)) return;
  const Slot slot = network_.packet(index).slot;
  if (!process(index, at)) {
    stalled_.push_back(index);
    return;
  }
  // Retries stalled messages in the order of arrival, since the line's state may have changed.
  for (std::size_t i = 0; i < stalled_.size();) {
    const PacketIndex waiting = stalled_[i];
    if (network_.packet(waiting).slot == slot && process(waiting, at)) {
      stalled_.erase(stalled_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
}

template <class Step>
StepResult Directory::run_and_tell(const Packet& packet, Tick at, Step step) {
  const ControllerEntry before = entry(packet.slot);
  const StepResult result = step();
  const ControllerEntry& now = entry(packet.slot);
  if (now.owner != before.owner || now.sharers != before.sharers)
    log_.listener()->directory_changed(at, node_, packet.line, now.owner, now.sharers);
  return result;
}

template <class Step>
StepResult Directory::run(const Packet& packet, const std::byte* data, Tick at, Step step) {
  Outbox out{*this, packet, data, at};
  try {
    if (log_.listener() != nullptr) [[unlikely]]
      return run_and_tell(packet, at, [&] { return step(entry(packet.slot), out); });
    return step(entry(packet.slot), out);
  } catch (const ProtocolFault& fault) {
    log_.fail(fault.what(), packet.line, store_.address_of(packet.line));
  }
}

bool Directory::process(PacketIndex index, Tick at) {
  const Packet packet = network_.packet(index);
  const bool had_place = entry(packet.slot).state != 0;
  const StepResult result = run(packet, network_.data(index), at, [&](ControllerEntry& entry, Outbox& out) {
    return message_step(rules_, entry, 0, Side::member, packet.message, out);
  });
  if (result == StepResult::stalled) return false;
  network_.free(index);
  const bool has_place = entry(packet.slot).state != 0;
  if (has_place && !had_place) {
    find_place(packet.slot, at);
  } else if (had_place && !has_place) {
    places_.take_back(packet.line);
  } else {
    places_.use(packet.line, at);
  }
  return true;
}

bool Directory::evictable(Slot slot) const {
  return rules_.can_evict(entries_[slot], Storage::entries);
}

void Directory::find_place(Slot slot, Tick at) {
  const auto make_go = [this, at](Slot victim) { evict(victim, at); };
  places_.give(
      store_.line(slot), slot, at, [this](Slot other) { return evictable(other); }, make_go);
}

// Starts the eviction of an entry. Until its recalls are answered, the entry exists without a storage slot.
void Directory::evict(Slot slot, Tick at) {
  Packet nobodys;
  nobodys.slot = slot;
  nobodys.line = store_.line(slot);
  run(nobodys, nullptr, at,
      [&](ControllerEntry& entry, Outbox& out) { return evict_step(rules_, entry, 0, Storage::entries, out); });
}

std::string Directory::describe_pending() const {
  std::string text;
  for (const PacketIndex index : stalled_) {
    const Packet& packet = network_.packet(index);
    text += fmt::format("  directory {}: {} of agent {} for line 0x{:x} waits\n", node_,
                        protocol_.messages[packet.message.message].name, packet.sender, store_.address_of(packet.line));
  }
  return text;
}

}  // namespace linebounce
