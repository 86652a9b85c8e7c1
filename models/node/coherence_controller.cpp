// The way of a request, in the order of this file. A bus asks its node's controller, whose step sends a message to the
// controller's parent. The parent receives and processes the message with the same code, and its step sends further messages.
// The answer comes back the same way. The node's controller then puts the transaction on its bus again.
#include "models/node/coherence_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/failure.hpp"
#include "models/reached.hpp"

namespace linebounce {
namespace {

const Waits kNoWaits;

}  // namespace

// Describes the step in progress, and carries out those of its effects that reach beyond the line's entry.
struct CoherenceController::Outbox {
  CoherenceController& self;
  Slot slot;
  Tick at;     // the step's time
  Tick ready;  // when messages without data leave
  Cause cause;
  const Packet* packet = nullptr;  // the message being processed, if any
  LineData incoming = {};          // the message's data, or the data on the bus
  StageId stage = kNoStage;        // the transaction's latest stage, before its pass through the controller
  const Waits& waits = kNoWaits;   // the transaction's waits, without those of a message that has stalled

  void send_home(const NetworkMessage& message) { send_up(self.place_.parent, message); }
  void send(int agent, const NetworkMessage& message) {
    send_up(agent == kGroupItself ? self.place_.parent : self.place_.peers[agent], message);
  }
  void send_up(int receiver, const NetworkMessage& message);
  void send_member(int member, const NetworkMessage& message);
  void post(int receiver, const NetworkMessage& message, DataOrigin origin, Tick look_up);
  [[nodiscard]] int members() const { return static_cast<int>(self.place_.members.size()); }
  void take_data();
  void update_memory();
  void tell_taken() const;
  [[nodiscard]] Tick stalled() const { return packet == nullptr ? 0 : at - packet->due; }
  [[nodiscard]] Waits waited() const;
  [[nodiscard]] StageId passed() const { return self.log_.listener() == nullptr ? kNoStage : tell_pass(); }
  [[gnu::cold]] StageId tell_pass() const;
  [[gnu::cold]] StageId found(Tick data_at, Tick queued) const;
  StageId tell_stage(StageId after, Stage::What what, Tick from, Tick to, Tick queued = 0) const;
  void run() { self.bus_side_->run(slot, ready, passed(), waited()); }
  void recall(MessageId message) {
    // When the recall would have been made, had its forward not been stalled.
    const Tick since = packet != nullptr && self.passes_while_stalled_ ? packet->due + self.latency_ : ready;
    self.bus_side_->recall(slot, message, ready, since, passed(), waited());
  }
  void on_transition(StateId state, EventId event, StateId next) {
    self.log_.record(at, self.rules_.controller, self.name_.number, self.store_.line(slot), state, event, next);
  }
};

bool BusSide::grants(const BusRequest& request, Slot slot, Tick at) {
  CoherenceController& self = controller_;
  self.make_room(slot);
  const std::size_t ask = ask_event(self.rules_.protocol->bus_messages, request.message);
  if (self.rules_.table->base_events[ask].absent) return true;
  const ControllerEntry& entry = self.entries_[slot];
  const Permission answer = permission(self.rules_, entry, ask);
  const bool refused = !answer.granted && !answer.saved;
  if (request.was_deferred()) {
    --lines_[slot].asking_again;
  } else if (answer.saved && deferred_first_ && lines_[slot].asking_again > 0) [[unlikely]] {
    REACHED(new_request_behind_deferred_ones);
    defer(request, at);
    return false;
  }
  if (answer.is_all) {
    on_transition(slot, entry.state, self.rules_.table->base_events[ask].first, entry.state, at);
    self.keep(slot, true, at);
  } else {
    const Cause cause{.side = Side::member, .bus_member = request.client};
    CoherenceController::Outbox out{self, slot, at, at + self.latency_, cause, nullptr, {}, request.stage, request.waits};
    self.step(ask, out);
  }
  if (answer.saved) lines_[slot].asked = request.message;
  if (refused) defer(request, at);
  return answer.granted;
}

void BusSide::defer(const BusRequest& request, Tick at) {
  deferred_.push_back(request);
  deferred_.back().stamp = at;
}

void CoherenceController::receive(Packet& packet, Tick at) {
  if (home_ && waits_for_turn(packet, at)) return;
  const Slot slot = packet.slot;
  const bool blocked = is_blocked(packet);
  if (blocked) REACHED(forward_behind_a_stalled_one);
  if (blocked || !process(packet, at)) {
    stalled_.push_back(&packet);
    return;
  }
  settle(slot, at);
}

// A stalled forward blocks later forwards of its line. Other stalled messages block nothing.
bool CoherenceController::is_blocked(const Packet& packet) const {
  if (stalled_.empty() || packet.message_class != MessageClass::forward) return false;
  return std::ranges::any_of(stalled_, [&](const Packet* other) {
    return other->slot == packet.slot && other->message_class == MessageClass::forward;
  });
}

// Returns true if earlier requests for the line keep this request waiting. The network delivers it again when they are done.
bool CoherenceController::waits_for_turn(Packet& packet, Tick at) {
  if (packet.has_turn || packet.message_class != MessageClass::request) return false;
  packet.has_turn = true;
  const Tick turn = home_->turn(packet.slot, at);
  if (log_.listener() != nullptr) [[unlikely]] {
    packet.stage = log_.tell_stage({.what = Stage::What::turn,
                                    .at = name_,
                                    .line = packet.line,
                                    .from = at,
                                    .to = turn,
                                    .queued = turn - at,
                                    .held_from = turn,
                                    .held_until = turn + home_->line_busy(),
                                    .after = packet.stage});
  }
  if (turn == at) return false;
  packet.waits[Resource::line] += turn - at;
  network_.requeue(packet, turn);
  return true;
}

// Returns false if the line's row stalls the message.
bool CoherenceController::process(Packet& packet, Tick at) {
  make_room(packet.slot);
  const bool inside = home_ || std::ranges::find(place_.members, packet.sender) != place_.members.end();
  const Side side = inside ? Side::member : Side::outside;
  const Cause cause{.side = side, .in = &packet.message};
  // A stalled message has passed through the controller while it waited, if the snoops of those who wait are at the line.
  const Tick passed = passes_while_stalled_ ? std::max(at, packet.due + latency_) : at + latency_;
  Outbox out{*this, packet.slot, at, passed, cause, &packet, {packet.data.get(), packet.version}, packet.stage, packet.waits};
  if (step(rules_.event_of(side, packet.message.message), out) == StepResult::stalled) return false;
  network_.free(packet);
  return true;
}

// Runs the line's row for base event `base`.
StepResult CoherenceController::step(std::size_t base, Outbox& out) {
  ControllerEntry& entry = entries_[out.slot];
  const ControllerEntry before = entry;
  try {
    if (ControllerStep(rules_, entry, place_.number, out.cause, out).run(base) == StepResult::stalled)
      return StepResult::stalled;
  } catch (const ProtocolFault& fault) {
    fail(fault.what(), out.slot);
  }
  if (log_.listener() != nullptr && home_) [[unlikely]] {
    if (entry.owner != before.owner || entry.sharers != before.sharers)
      log_.listener()->directory_changed(out.at, name_.number, store_.line(out.slot), entry.owner, entry.sharers);
  }
  if (!held_back_.empty()) [[unlikely]]
    send_held_back(out.packet == nullptr ? kNobody : out.packet->sender);
  keep(out.slot, out.cause.side == Side::member, out.at);
  return StepResult::done;
}

void CoherenceController::Outbox::send_up(int receiver, const NetworkMessage& message) {
  // A group looks up data in its cache, except data that the current message has brought.
  const bool looked_up = !self.bus_side_ && (packet == nullptr || !packet->carries_data);
  post(receiver, message, {.node = self.place_.node, .from_cache = true}, looked_up ? self.cache_latency_ : 0);
}

// A group passes on the data of a response from outside. All other data for its members comes from the group's own cache.
void CoherenceController::Outbox::send_member(int member, const NetworkMessage& message) {
  const int receiver = self.place_.members[member];
  if (self.home_) return post(receiver, message, {.node = self.place_.node}, 0);
  if (cause.side == Side::outside && packet->message_class == MessageClass::response)
    return post(receiver, message, self.kept_.origin(slot), 0);
  post(receiver, message, {.node = self.place_.node, .from_cache = true, .shared = true}, self.cache_latency_);
}

// `look_up`: the time until the controller has found the data, if the message carries any.
void CoherenceController::Outbox::post(int receiver, const NetworkMessage& message, DataOrigin origin, Tick look_up) {
  const Message& kind = self.rules_.protocol->messages[self.rules_.protocol->bus_messages + message.message];
  Packet& sent = self.network_.make();
  sent.message = message;
  sent.message_class = kind.message_class;
  sent.carries_data = kind.carries_data;
  sent.slot = slot;
  sent.line = self.store_.line(slot);
  sent.sender = self.place_.endpoint;
  sent.receiver = receiver;
  sent.waits = waited();
  Tick leaves = ready;
  if (kind.carries_data) {
    const LineData data = self.data(slot);
    copy_line(sent.data.get(), data.bytes, self.store_.line_bytes());
    sent.version = data.version;
    sent.origin = origin;
    leaves = self.home_ ? self.home_->read(slot, ready) : ready + look_up;
    if (self.home_) sent.waits[Resource::memory] += leaves - ready - self.home_->latency();
  }
  if (self.log_.listener() != nullptr) [[unlikely]]
    sent.stage = found(leaves, kind.carries_data ? leaves - ready - (self.home_ ? self.home_->latency() : look_up) : 0);
  if (self.home_ && self.home_->broadcasts()) {
    self.held_back_.emplace_back(&sent, leaves);
  } else {
    self.network_.send(sent, leaves);
  }
}

Waits CoherenceController::Outbox::waited() const {
  Waits all = waits;
  all[Resource::line] += stalled();
  return all;
}

// Reports the pass through the controller, which all messages of the step share. Before that, the message may have stalled.
StageId CoherenceController::Outbox::tell_pass() const {
  StageId latest = stage;
  if (packet != nullptr) latest = tell_stage(latest, Stage::What::stalled, packet->due, at, stalled());
  return tell_stage(latest, Stage::What::pass, std::max(at, ready - self.latency_), ready);
}

// Reports the pass, and the look-up of the data until `data_at`. `queued`: how long the look-up waited.
StageId CoherenceController::Outbox::found(Tick data_at, Tick queued) const {
  return tell_stage(tell_pass(), Stage::What::supply, ready, data_at, queued);
}

StageId CoherenceController::Outbox::tell_stage(StageId after, Stage::What what, Tick from, Tick to, Tick queued) const {
  return self.log_.tell_stage({.what = what,
                               .at = self.name_,
                               .line = self.store_.line(slot),
                               .from = from,
                               .to = to,
                               .queued = queued,
                               .after = after});
}

// Sends the step's messages. If the request took copies from other members, the home delays its answer until the last node's
// answer has arrived at the requester.
void CoherenceController::send_held_back(int requester) {
  const bool waits = std::ranges::any_of(held_back_, [requester](const auto& message) {
    const Packet& packet = *message.first;
    return packet.receiver != requester && !packet.carries_data;
  });
  for (const auto& [packet, leaves] : held_back_) {
    const bool answer = packet->receiver == requester;
    const Tick answered = leaves + (waits && answer ? home_->wait_for_all(network_.node_of(requester)) : 0);
    if (log_.listener() != nullptr) [[unlikely]] {
      packet->stage = log_.tell_stage({.what = Stage::What::answers,
                                       .at = name_,
                                       .line = packet->line,
                                       .from = leaves,
                                       .to = answered,
                                       .after = packet->stage});
    }
    network_.send(*packet, answered);
  }
  held_back_.clear();
}

void CoherenceController::Outbox::take_data() {
  self.kept_.put(slot, incoming);
  self.met_[slot] |= kNeedsData;  // so that keep() drops the data if the next state does not need it
  if (packet != nullptr) self.kept_.origin(slot) = packet->origin;
  tell_taken();
}

void CoherenceController::Outbox::update_memory() {
  self.home_->write(slot, incoming, ready);
  tell_taken();
}

void CoherenceController::Outbox::tell_taken() const {
  if (StepListener* listener = self.log_.listener(); listener != nullptr) [[unlikely]]
    listener->data_taken(at, self.name_, self.store_.line(slot),
                         {incoming.bytes, static_cast<std::size_t>(self.store_.line_bytes())});
}

// `before`: the needs before this step.
void CoherenceController::change_needs(Slot slot, Needs before, bool used, Tick at) {
  const Needs now = met_[slot];
  if ((before & ~now & kNeedsData) != 0) kept_.drop(slot);
  for (LinePlaces& places : places_) {
    const auto bit = static_cast<Needs>(1U << ordinal(places.storage()));
    if ((now & ~before & bit) != 0) {
      find_place(places, slot, at);
    } else if ((before & ~now & bit) != 0) {
      places.take_back(store_.line(slot));
    } else if (used && (now & bit) != 0) {
      places.use(store_.line(slot), at);
    }
  }
}

// Gives the line a storage slot if one can be had. The victim loses its slot at once, even if its eviction takes messages
// that are still to be answered.
void CoherenceController::find_place(LinePlaces& places, Slot slot, Tick at) {
  const Storage storage = places.storage();
  const auto evict = [&](Slot victim) {
    Outbox out{*this, victim, at, at + latency_, {}};
    step(rules_.eviction_base(storage), out);
  };
  places.give(
      store_.line(slot), slot, at, [&](Slot other) { return rules_.can_evict(entries_[other], storage); }, evict);
}

// Retries the line's stalled messages, then the bus's deferred requests for it, since the line's state may have changed.
void CoherenceController::settle(Slot slot, Tick at) {
  if (!stalled_.empty()) [[unlikely]]
    retry(slot, at);
  if (bus_side_ && state(slot).stable) bus_side_->transaction_over(slot, at);
}

void CoherenceController::retry(Slot slot, Tick at) {
  if (std::ranges::none_of(stalled_, [slot](const Packet* packet) { return packet->slot == slot; })) return;
  while (retry_one(slot, at)) {
  }
}

// Tries the oldest stalled forward of the line, then the line's other stalled messages in the order of arrival. Returns true as
// soon as one has been processed.
bool CoherenceController::retry_one(Slot slot, Tick at) {
  for (const bool forwards : {true, false}) {
    for (auto waiting = stalled_.begin(); waiting != stalled_.end(); ++waiting) {
      Packet& packet = **waiting;
      if (packet.slot != slot || (packet.message_class == MessageClass::forward) != forwards) continue;
      if (process(packet, at)) {
        stalled_.erase(waiting);
        return true;
      }
      if (forwards) break;  // the forward blocks later ones
    }
  }
  return false;
}

void BusSide::ask_again(Slot slot, Tick at) {
  std::erase_if(deferred_, [&](const BusRequest& request) {
    if (request.slot != slot) return false;
    BusRequest again = request;
    if (controller_.log_.listener() != nullptr) [[unlikely]] {
      again.stage = controller_.log_.tell_stage({.what = Stage::What::deferred,
                                                 .at = controller_.name_,
                                                 .line = request.line,
                                                 .from = request.stamp,
                                                 .to = at,
                                                 .queued = at - request.stamp,
                                                 .after = request.stage});
    }
    again.waits[Resource::line] += at - request.stamp;
    again.stamp = at;
    ++lines_[slot].asking_again;
    bus_->post(again);
    return true;
  });
}

void BusSide::run(Slot slot, Tick at, StageId stage, const Waits& waits) {
  Line& line = lines_[slot];
  line.running = true;
  bus_->post({.stamp = at,
              .client = controller_.entries_[slot].member,
              .stage = stage,
              .line = controller_.store_.line(slot),
              .slot = slot,
              .message = line.asked,
              .kind = BusRequest::Kind::run,
              .waits = waits});
}

void BusSide::recall(Slot slot, MessageId message, Tick at, Tick since, StageId stage, const Waits& waits) {
  bus_->post({.stamp = at,
              .client = kMemory,
              .stage = stage,
              .line = controller_.store_.line(slot),
              .slot = slot,
              .message = message,
              .kind = BusRequest::Kind::recall,
              .since = since,
              .waits = waits});
}

// The bus runs the rows of a granted transaction in its order step, and calls act() for their actions that memory lacks.
void BusSide::act(Slot slot, Action action, const BusRequest& request, const LineData& on_bus, Tick at) {
  CoherenceController& self = controller_;
  if (action.verb == Verb::save_asker) lines_[slot].asked = request.message;
  const Cause cause{.side = Side::member, .bus_member = request.client};
  CoherenceController::Outbox out{self, slot, at, at + self.latency_, cause, nullptr, on_bus, request.stage, request.waits};
  ControllerStep(self.rules_, self.entries_[slot], self.place_.number, cause, out).act(action);
}

void BusSide::on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) {
  controller_.log_.record(at, Controller::node, controller_.name_.number, controller_.store_.line(slot), state, event, next);
}

MemorySide::Supply BusSide::read(Slot slot, Tick address_at) {
  if (!lines_[slot].running) return {address_at + controller_.cache_latency_, Source::node_cache};
  // The granted transaction is served with data that arrived before and waits in the controller.
  const DataOrigin& origin = controller_.kept_.origin(slot);
  const bool local = origin.node == controller_.place_.node;
  if (origin.shared && local) return {address_at, Source::node_cache};
  if (origin.from_cache) return {address_at, local ? Source::local_c2c : Source::remote_c2c};
  return {address_at, local ? Source::local_memory : Source::remote_memory};
}

void BusSide::recalled(Slot slot, MessageId message, bool owned, const LineData& data, Tick at, Tick data_at, StageId stage,
                       const Waits& waits) {
  CoherenceController& self = controller_;
  CoherenceController::Outbox out{self, slot, at, data_at + self.latency_, {.owned = owned}, nullptr, data, stage, waits};
  self.step(recalled_event(self.rules_.protocol->bus_messages, message), out);
}

void BusSide::order_over(Slot slot, Tick at) {
  controller_.keep(slot, false, at);
  controller_.settle(slot, at);
}

namespace {

Endpoint::Kind endpoint_kind(Controller kind) {
  if (kind == Controller::node) return Endpoint::Kind::controller;
  return kind == Controller::group ? Endpoint::Kind::group : Endpoint::Kind::directory;
}

}  // namespace

CoherenceController::Place CoherenceController::place_of(const Network& network, Controller kind, int number) {
  const MachineLayout& layout = network.layout();
  if (kind == Controller::directory) return {{}, number, network.directory_of(number), {}, layout.agents};
  const bool is_group = kind == Controller::group;
  const MachineLayout::Place above = is_group ? layout.groups[number] : layout.place_of_bus[number];
  const std::span<const int> peers = above.parent < 0 ? layout.agents : layout.group_at(above.parent).members;
  if (!is_group) return {above, layout.node_of_bus(number), number, peers, {}};
  return {above, layout.groups[number].node, layout.first_group() + number, peers, layout.groups[number].members};
}

CoherenceController::CoherenceController(Controller kind, int number, const MachineContext& machine, const Protocol& protocol,
                                         Network& network)
    : name_{endpoint_kind(kind), number},
      place_(place_of(network, kind, number)),
      rules_(protocol, kind),
      store_(machine.store),
      log_(machine.log),
      network_(network),
      kept_(store_.line_bytes()) {
  const Timebase& time = machine.timebase;
  const NodeSpec& node = machine.spec.node;
  const auto limit = [this](Storage storage, int size, int ways) {
    if (size > 0) places_.emplace_back(storage, size, ways, store_.line_bytes());
  };
  if (kind == Controller::node) {
    latency_ = time.from_ns(node.latency_ns);
    cache_latency_ = time.from_ns(node.cache_latency_ns);
    limit(Storage::cache, node.cache_size_kib, node.cache_ways);
    bus_side_ = std::make_unique<BusSide>(*this);
    passes_while_stalled_ = machine.spec.bus.snoop_waits_ns >= 0;
  } else if (kind == Controller::group) {
    const GroupSpec& group = machine.spec.groups[network.layout().groups[number].level];
    latency_ = time.from_ns(group.latency_ns);
    cache_latency_ = time.from_ns(group.cache_latency_ns);
    limit(Storage::cache, group.size_kib, group.ways);
    limit(Storage::entries, group.filter_entries, group.filter_ways);
  } else {
    const DirectorySpec directory = as_of_node(machine.spec, number).directory;
    latency_ = time.from_ns(node.latency_ns) + time.from_ns(directory.latency_ns);
    limit(Storage::entries, directory.entries, directory.ways);
    home_.emplace(number, machine, network);
  }
  for (std::size_t state = 0; state < rules_.table->states.size(); ++state) {
    const auto id = static_cast<StateId>(state);
    needs_.push_back({needs_of({.state = id}), needs_of({.state = id, .sharers = 1})});
  }
}

CoherenceController::~CoherenceController() = default;

CoherenceController::Needs CoherenceController::needs_of(const ControllerEntry& entry) const {
  Needs needs = home_ || rules_.table->states[entry.state].holds_data ? kNeedsData : 0;
  for (const LinePlaces& places : places_) {
    if (rules_.occupies(entry, places.storage())) needs |= static_cast<Needs>(1U << ordinal(places.storage()));
  }
  return needs;
}

void CoherenceController::grow(Slot slot) {
  const std::size_t slots = std::max<std::size_t>(slot + 1, entries_.size() * 2);
  entries_.resize(slots);
  met_.resize(slots);
  if (!home_) kept_.resize(slots);
  if (bus_side_) bus_side_->resize(slots);
}

LineData CoherenceController::data(Slot slot) {
  const LineData data = home_ ? home_->data(slot) : kept_.data(slot);
  if (data.bytes == nullptr)
    fail(bus_side_ ? "the node controller has no data to send" : "the group's controller has no data to send", slot);
  return data;
}

void CoherenceController::fail(const char* what, Slot slot) const {
  log_.fail(what, store_.line(slot), store_.address_of(store_.line(slot)));
}

std::string CoherenceController::describe_pending() const {
  const std::string who = fmt::format("  {} {}", bus_side_ ? "node controller" : home_ ? "directory" : "group", name_.number);
  std::string text;
  for (Slot slot = 0; slot < entries_.size() && !home_; ++slot) {
    if (state(slot).stable) continue;
    text += fmt::format("{}: line 0x{:x} is in {}, asked for by {} {}\n", who, store_.address_of(store_.line(slot)),
                        state(slot).name, bus_side_ ? "cache" : "member", entries_[slot].member);
  }
  for (const Packet* packet : stalled_) {
    text += fmt::format("{}: {} of {} {} for line 0x{:x} waits\n", who,
                        rules_.protocol->messages[rules_.protocol->bus_messages + packet->message.message].name,
                        home_ ? "agent" : "endpoint", packet->sender, store_.address_of(packet->line));
  }
  return bus_side_ ? text + bus_side_->describe_deferred() : text;
}

std::string BusSide::describe_deferred() const {
  std::string text;
  for (const BusRequest& request : deferred_) {
    text += fmt::format("  node controller {}: {} of cache {} for line 0x{:x} is put off\n", controller_.name_.number,
                        controller_.rules_.protocol->messages[request.message].name, request.client,
                        controller_.store_.address_of(request.line));
  }
  return text;
}

}  // namespace linebounce
