#include "models/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/ordinal.hpp"
#include "models/reached.hpp"

namespace linebounce {

NetworkTiming::NetworkTiming(const NodeSpec& spec, const Timebase& timebase)
    : occupancy(timebase.from_ns(spec.occupancy_ns)),
      request_crossing(timebase.from_ns(spec.request_crossing_ns)),
      line_crossing(timebase.from_ns(spec.line_crossing_ns)) {}

namespace {

// The length of the calendar's slots. A large machine has some hundred packets under way at a time, and most of their waits are
// shorter than a microsecond, the length of the ring.
constexpr double kSlotNs = 16;

}  // namespace

Network::Network(const MachineContext& machine)
    : spec_(machine.spec.network),
      timing_(machine.spec.node, machine.timebase),
      layout_(machine.layout),
      store_(machine.store),
      homes_(machine.homes),
      log_(machine.log),
      end_(machine.end),
      line_bytes_(store_.line_bytes()),
      calendar_(machine.timebase.from_ns(kSlotNs)),
      crossings_(machine.spec.nodes),
      groups_(machine.spec, layout_, machine.timebase),
      map_(lay_links(spec_, machine.spec.nodes)) {
  const auto attach = [this](int node, Tick occupancy) {
    // Without groups, all controllers of a node share one index, because a message in one of them keeps the others busy.
    ports_.push_back({.node = node,
                      .occupancy = occupancy,
                      .controller = layout_.groups.empty() ? static_cast<std::size_t>(node) : ports_.size()});
  };
  const int buses = static_cast<int>(layout_.cores_on_bus.size());
  for (int bus = 0; bus < buses; ++bus) attach(layout_.node_of_bus(bus), timing_.occupancy);
  for (int node = 0; node < machine.spec.nodes; ++node) attach(node, timing_.occupancy);
  for (const auto& group : layout_.groups) attach(group.node, groups_.occupancy(group.level));
  controller_free_.resize(ports_.size());
  last_ready_.resize(ports_.size() * (ports_.size() + 1) * kMessageClasses);

  const Timebase& timebase = machine.timebase;
  for (const Link& link : map_.links) {
    const Tick thousand_bytes = link.bandwidth_mb_per_s > 0 ? timebase.from_ns(1e6 / link.bandwidth_mb_per_s) : 0;
    const auto occupancy = [&](bool line) { return bytes_of(line) * thousand_bytes / 1000; };
    links_.push_back({.from = link.from,
                      .to = link.to,
                      .latency = timebase.from_ns(link.latency_ns),
                      .occupancy = {occupancy(false), occupancy(true)},
                      .busy = {machine.warmup_end, machine.end}});
  }
  for (int from = 0; from < map_.nodes; ++from) {
    for (int to = 0; to < map_.nodes; ++to) hops_.push_back(std::ssize(map_.way(from, to)));
  }
  for (const std::vector<double>& from : pair_costs_ns(spec_, machine.spec.nodes)) {
    std::vector<Tick>& costs = pair_costs_.emplace_back();
    for (const double ns : from) costs.push_back(timebase.from_ns(ns));
  }
}

Tick Network::way(int from, int to) const {
  Tick way = pair_costs_[from][to];
  for (const int link : map_.way(from, to)) way += links_[link].latency;
  return way;
}

Packet& Network::make() {
  if (unused_ == nullptr) {
    Packet& packet = packets_.emplace_back();
    packet.data = std::make_unique<std::byte[]>(line_bytes_);
    return packet;
  }
  Packet& packet = *unused_;
  unused_ = packet.next;
  return packet;
}

void Network::send(Packet& packet, Tick ready) {
  Port& port = ports_[packet.sender];
  packet.order = static_cast<std::uint64_t>(packet.sender) << 32 | port.sent++;
  packet.place = port.node;
  packet.has_turn = false;
  // All homes count as one receiver, because the packet's home is known only when the packet departs.
  const std::size_t receiver = packet.receiver < 0 ? ports_.size() : static_cast<std::size_t>(packet.receiver);
  const std::size_t way = static_cast<std::size_t>(packet.sender) * (ports_.size() + 1) + receiver;
  Tick& last = last_ready_[way * kMessageClasses + ordinal(packet.message_class)];
  const Tick free = std::max(ready + groups_.way(packet.sender, packet.receiver, packet.line), now() + 1);
  last = std::max(last, free);
  packet.waits[Resource::link] += last - free;
  if (log_.listener() != nullptr) [[unlikely]] {
    packet.stage = log_.tell_stage({.what = Stage::What::outlet,
                                    .at = named(packet.sender),
                                    .line = packet.line,
                                    .from = ready,
                                    .to = last,
                                    .queued = last - free,
                                    .after = packet.stage});
  }
  push(packet, last, Move::depart);
  act_at(last);
}

void Network::push(Packet& packet, Tick at, Move move) {
  packet.due = at;
  packet.move = move;
  calendar_.push(packet);
}

void Network::turn() {
  do {
    ++activations_;
    const Tick now = this->now();
    if (now >= end_) return;  // the run is over: the cores have stopped
    while (calendar_.next() <= now) {
      Packet& packet = calendar_.pop();
      run(packet, packet.due);
    }
    if (calendar_.next() == kNever) return;
  } while (go_on_at(calendar_.next()));
  act_at(calendar_.next());
}

void Network::run(Packet& packet, Tick at) {
  switch (packet.move) {
    case Move::depart: depart(packet, at); break;
    case Move::link: take_link(packet, at, false); break;
    case Move::arrive: arrive(packet, at); break;
    case Move::handle: handle(packet, at); break;
    case Move::credit: take_credit(packet, at); break;
  }
}

void Network::depart(Packet& packet, Tick at) {
  if (packet.receiver < 0) packet.receiver = directory_of(homes_.home(packet.line, packet.place));
  packet.to = node_of(packet.receiver);
  if (log_.listener() != nullptr) [[unlikely]]
    tell_departure(packet, at);
  const std::size_t way = static_cast<std::size_t>(packet.place) * map_.nodes + packet.to;
  bytes_to_move_ += hops_[way] * bytes_of(packet.carries_data);
  // Arrives in the same turn, because no other item of this tick precedes the arrival.
  if (packet.to == packet.place) return arrive(packet, at);
  // A message moves on as soon as the crossing stage is free; later messages wait while it occupies the stage. A line sent at
  // one time to a reader and to its home, both on the same node, occupies the stage once: the second message counts as a
  // request.
  CrossingStage& stage = crossings_[packet.place];
  const bool again = packet.carries_data && stage.line == packet.line && stage.line_at == at && stage.line_to == packet.to;
  const Tick start = std::max(at, stage.free);
  stage.free = start + (packet.carries_data && !again ? timing_.line_crossing : timing_.request_crossing);
  if (packet.carries_data) {
    stage.line = packet.line;
    stage.line_at = at;
    stage.line_to = packet.to;
  }
  if (log_.listener() != nullptr) [[unlikely]]
    tell_wait(packet, Stage::What::crossing, {Endpoint::Kind::directory, packet.place}, at, start, stage.free);
  if (start > at) {
    packet.waits[Resource::link] += start - at;
    return push(packet, start, Move::link);
  }
  take_link(packet, start, false);
}

void Network::tell_departure(Packet& packet, Tick at) const {
  packet.told = log_.listener()->sent({.what = SentMessage::What::packet,
                                       .message = packet.message.message,
                                       .from = named(packet.sender),
                                       .to = named(packet.receiver),
                                       .line = packet.line,
                                       .departs = at,
                                       .carries_data = packet.carries_data});
}

// Reports a wait for a resource, which the packet then occupies until `until`.
void Network::tell_wait(Packet& packet, Stage::What what, Endpoint where, Tick from, Tick to, Tick until) const {
  packet.stage = log_.tell_stage({.what = what,
                                  .at = where,
                                  .line = packet.line,
                                  .from = from,
                                  .to = to,
                                  .queued = to - from,
                                  .held_from = to,
                                  .held_until = until,
                                  .after = packet.stage});
}

// `start`: when the packet's first bytes go over the link.
void Network::tell_link(Packet& packet, const LinkState& link, Tick from, Tick start) const {
  packet.stage = log_.tell_stage({.what = Stage::What::link,
                                  .at = {Endpoint::Kind::directory, link.from},
                                  .peer = link.to,
                                  .line = packet.line,
                                  .from = from,
                                  .to = packet.due,
                                  .queued = start - from,
                                  .held_from = start,
                                  .held_until = link.free,
                                  .after = packet.stage});
}

// A node's controllers take messages in one after the other, unless the machine has groups.
void Network::tell_arrival(Packet& packet, const Port& port, Tick at, Tick start) const {
  log_.listener()->arrived(packet.told, at);
  const Endpoint node{Endpoint::Kind::directory, port.node};
  tell_wait(packet, Stage::What::inbox, layout_.groups.empty() ? node : named(packet.receiver), at, start,
            start + port.occupancy);
}

Endpoint Network::named(int endpoint) const {
  const int buses = static_cast<int>(layout_.cores_on_bus.size());
  if (endpoint < buses) return {Endpoint::Kind::controller, endpoint};
  if (endpoint < layout_.first_group()) return {Endpoint::Kind::directory, endpoint - buses};
  return {Endpoint::Kind::group, endpoint - layout_.first_group()};
}

// `has_waited`: true if a credit has arrived for the packet, the first of those that waited for one.
void Network::take_link(Packet& packet, Tick at, bool has_waited) {
  const int number = map_.next_link[packet.place][packet.to];
  LinkState& link = links_[number];
  if (spec_.credits > 0) {
    const std::size_t message_class = ordinal(packet.message_class);
    std::deque<Packet*>& waiting = link.waiting[message_class];
    if (!has_waited && (link.in_use[message_class] == spec_.credits || !waiting.empty())) {
      REACHED(message_waits_for_a_credit);
      return waiting.push_back(&packet);
    }
    release_link(packet, at);
    ++link.in_use[message_class];
    packet.held_link = number;
  }
  const Tick asked = packet.due;
  packet.place = link.to;
  const Tick start = std::max(at, link.free);
  packet.waits[Resource::link] += start - asked;
  const Tick busy = link.occupancy[packet.carries_data ? 1 : 0];
  link.free = start + busy;
  const Tick bytes = bytes_of(packet.carries_data);
  bytes_moved_ += bytes;
  if (link.busy.add(start, busy, measured_end())) link.bytes += bytes;
  if (timeline_ != nullptr) {
    timeline_->link(link.from, link.to, store_.address_of(packet.line), packet.carries_data, start, link.free + link.latency);
  }
  // Cut-through routing: a message's head moves on at once, so its bytes cost time only on the last link.
  if (link.to == packet.to) {
    const Tick beside = pair_costs_[node_of(packet.sender)][packet.to];
    push(packet, link.free + link.latency + beside, Move::arrive);
  } else {
    push(packet, start + link.latency, Move::link);
  }
  if (log_.listener() != nullptr) [[unlikely]]
    tell_link(packet, link, asked, start);
}

// Frees the buffer that the packet occupies at a link's end. The credit takes the link's latency to return to the sender.
void Network::release_link(Packet& packet, Tick at) {
  if (packet.held_link < 0) return;
  Packet& credit = make();
  credit.message_class = packet.message_class;
  credit.held_link = std::exchange(packet.held_link, -1);
  constexpr std::uint64_t kAfterAllSenders = std::uint64_t{0xFFFF} << 32;
  credit.order =
      kAfterAllSenders | (static_cast<std::uint64_t>(credit.held_link) * kMessageClasses + ordinal(credit.message_class));
  push(credit, at + std::max<Tick>(1, links_[credit.held_link].latency), Move::credit);
}

void Network::take_credit(Packet& credit, Tick at) {
  const int number = std::exchange(credit.held_link, -1);
  const std::size_t message_class = ordinal(credit.message_class);
  free(credit);
  LinkState& link = links_[number];
  --link.in_use[message_class];
  std::deque<Packet*>& waiting = link.waiting[message_class];
  if (waiting.empty()) return;
  Packet& next = *waiting.front();
  waiting.pop_front();
  take_link(next, at, true);
}

void Network::arrive(Packet& packet, Tick at) {
  const Port& port = ports_[packet.receiver];
  Tick& free = controller_free_[port.controller];
  const Tick start = std::max(at, free);
  free = start + port.occupancy;
  if (log_.listener() != nullptr) [[unlikely]]
    tell_arrival(packet, port, at, start);
  if (start > at) {
    packet.waits[Resource::controller] += start - at;
    return push(packet, start, Move::handle);
  }
  handle(packet, at);
}

void Network::handle(Packet& packet, Tick at) {
  release_link(packet, at);
  ports_[packet.receiver].endpoint->receive(packet, at);
}

std::vector<LinkStatistics> Network::links(Tick end) const {
  std::vector<LinkStatistics> statistics;
  for (const LinkState& link : links_) statistics.push_back({link.from, link.to, link.busy.until(end), link.bytes});
  return statistics;
}

std::string Network::describe_lost() const {
  std::string text;
  std::size_t unused = 0;
  for (const Packet* packet = unused_; packet != nullptr && unused <= packets_.size(); packet = packet->next) ++unused;
  if (unused != packets_.size()) text += fmt::format("  network: {} of {} packets were freed\n", unused, packets_.size());
  if (bytes_moved_ != bytes_to_move_)
    text += fmt::format("  network: links have moved {} bytes of {}\n", bytes_moved_, bytes_to_move_);
  for (const LinkState& link : links_) {
    const bool owes = std::any_of(link.in_use.begin(), link.in_use.end(), [](int buffers) { return buffers != 0; });
    if (owes) text += fmt::format("  network: credits of the link from {} to {} have not come back\n", link.from, link.to);
  }
  return text;
}

std::string Network::describe_pending() const {
  std::string text;
  std::vector<const Packet*> packets = calendar_.items();
  std::sort(packets.begin(), packets.end(), [](const Packet* a, const Packet* b) { return *b > *a; });
  for (const Packet* packet : packets) {
    if (packet->move == Move::credit) continue;
    text +=
        fmt::format("  network: message {} for line 0x{:x} from endpoint {} to {}, next at tick {}\n", packet->message.message,
                    store_.address_of(packet->line), packet->sender, packet->receiver, packet->due);
  }
  return text;
}

}  // namespace linebounce
