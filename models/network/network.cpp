#include "models/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/ordinal.hpp"
#include "models/reached.hpp"

namespace linebounce {

NetworkTiming::NetworkTiming(const NodeSpec& spec, const Timebase& timebase)
    : occupancy(timebase.from_ns(spec.occupancy_ns)),
      request_crossing(timebase.from_ns(spec.request_crossing_ns)),
      line_crossing(timebase.from_ns(spec.line_crossing_ns)) {}

namespace {

// The length of the calendar's slots, so short that few packets share one. A large machine has some hundred packets under way
// at a time, and most of their waits are shorter than a microsecond.
constexpr double kSlotNs = 2;

std::vector<int> nodes_of_endpoints(const MachineLayout& layout, int nodes) {
  std::vector<int> found;
  for (int bus = 0; bus < static_cast<int>(layout.cores_on_bus.size()); ++bus) found.push_back(layout.node_of_bus(bus));
  for (int node = 0; node < nodes; ++node) found.push_back(node);
  for (const auto& group : layout.groups) found.push_back(group.node);
  return found;
}

}  // namespace

Network::Network(sc_core::sc_module_name name, const MachineContext& machine)
    : sc_module(name),
      endpoints("endpoints"),
      spec_(machine.spec.network),
      timing_(machine.spec.node, machine.timebase),
      layout_(machine.layout),
      store_(machine.store),
      homes_(machine.homes),
      failures_(machine.failures),
      warmup_end_(machine.warmup_end),
      end_(machine.end),
      line_bytes_(store_.line_bytes()),
      nodes_(nodes_of_endpoints(layout_, machine.spec.nodes)),
      calendar_(machine.timebase.from_ns(kSlotNs)),
      crossings_(machine.spec.nodes),
      groups_(machine.spec, layout_, machine.timebase),
      controller_free_(static_cast<std::size_t>(layout_.first_group()) + layout_.groups.size()),
      map_(lay_links(spec_, machine.spec.nodes)) {
  const Timebase& timebase = machine.timebase;
  for (const Link& link : map_.links) {
    const Tick thousand_bytes = link.bandwidth_mb_per_s > 0 ? timebase.from_ns(1e6 / link.bandwidth_mb_per_s) : 0;
    const auto occupancy = [&](bool line) { return bytes_of(line) * thousand_bytes / 1000; };
    links_.push_back({.from = link.from,
                      .to = link.to,
                      .latency = timebase.from_ns(link.latency_ns),
                      .occupancy = {occupancy(false), occupancy(true)}});
  }
  for (const std::vector<double>& from : pair_costs_ns(spec_, machine.spec.nodes)) {
    std::vector<Tick>& costs = pair_costs_.emplace_back();
    for (const double ns : from) costs.push_back(timebase.from_ns(ns));
  }
}

void Network::end_of_elaboration() {
  for (int i = 0; i < endpoints.size(); ++i) endpoints_.push_back(endpoints[i]);
  sent_.resize(endpoints_.size());
  last_ready_.resize(endpoints_.size() * (endpoints_.size() + 1) * kMessageClasses);
}

// Index of the endpoint's controller in controller_free_. Unless the machine has groups, the controllers of a node share an
// index, because a message in one of them keeps the others busy.
std::size_t Network::controller_of(int endpoint) const {
  return layout_.groups.empty() ? node_of(endpoint) : endpoint;
}

Tick Network::way(int from, int to) const {
  Tick way = pair_costs_[from][to];
  for (const int link : map_.way(from, to)) way += links_[link].latency;
  return way;
}

PacketIndex Network::make(const Packet& packet, const std::byte* data) {
  PacketIndex index = static_cast<PacketIndex>(packets_.size());
  if (free_.empty()) {
    packets_.emplace_back();
    orders_.emplace_back();
    data_.push_back(std::make_unique<std::byte[]>(line_bytes_));
  } else {
    index = free_.back();
    free_.pop_back();
  }
  packets_[index] = packet;
  packets_[index].at = node_of(packet.sender);
  if (data != nullptr) std::memcpy(data_[index].get(), data, line_bytes_);
  return index;
}

void Network::send(PacketIndex index, Tick ready) {
  const Packet& packet = packets_[index];
  const std::size_t sender = packet.sender;
  orders_[index] = std::uint64_t{sender} << 32 | sent_[sender]++;
  // All homes count as one receiver, since the packet's home is known only when it departs.
  const std::size_t receivers = endpoints_.size() + 1;
  const std::size_t receiver = packet.receiver < 0 ? endpoints_.size() : static_cast<std::size_t>(packet.receiver);
  Tick& last = last_ready_[(sender * receivers + receiver) * kMessageClasses + static_cast<std::size_t>(packet.message_class)];
  last = std::max({ready + groups_.way(packet.sender, packet.receiver, packet.line), now() + 1, last});
  push(last, Stage::depart, index);
  schedule();
}

void Network::push(Tick at, Stage stage, PacketIndex index) {
  calendar_.push({at, orders_[index], index, stage});
}

void Network::schedule() {
  if (!calendar_.empty()) act_at(calendar_.next());
}

void Network::turn() {
  ++activations_;
  try {
    const Tick now = this->now();
    if (now >= end_) return;  // the run is over: the cores have stopped
    while (!calendar_.empty() && calendar_.next() <= now) run(calendar_.pop());
    schedule();
  } catch (...) {
    failures_.failed(std::current_exception());
  }
}

void Network::run(const Item& item) {
  switch (item.stage) {
    case Stage::depart: depart(item.what, item.at); break;
    case Stage::link: take_link(item.what, item.at); break;
    case Stage::arrive: arrive(item.what, item.at); break;
    case Stage::handle:
      release_link(packets_[item.what], item.at);
      endpoints_[packets_[item.what].receiver]->receive(item.what, item.at);
      break;
    case Stage::credit: take_credit(item.what, item.at); break;
  }
}

void Network::depart(PacketIndex index, Tick at) {
  Packet& packet = packets_[index];
  if (packet.receiver < 0) packet.receiver = directory_of(homes_.home(packet.line, packet.at));
  if (listener_ != nullptr) [[unlikely]]
    tell_departure(packet, at);
  packet.to = node_of(packet.receiver);
  if (packet.to == packet.at) return arrive(index, at);  // at once: no other item of this tick comes before the arrival
  // A message moves on as soon as the crossing stage is free; later messages wait while it occupies the stage. A line sent at
  // one time to a reader and to its home, both on the same node, occupies the stage once: the second message counts as a
  // request.
  CrossingStage& stage = crossings_[packet.at];
  const bool again = packet.carries_data && stage.line == packet.line && stage.line_at == at && stage.line_to == packet.to;
  const Tick start = std::max(at, stage.free);
  stage.free = start + (packet.carries_data && !again ? timing_.line_crossing : timing_.request_crossing);
  if (packet.carries_data) {
    stage.line = packet.line;
    stage.line_at = at;
    stage.line_to = packet.to;
  }
  if (start > at) return push(start, Stage::link, index);
  take_link(index, start);
}

void Network::tell_departure(Packet& packet, Tick at) const {
  packet.told = listener_->sent({.what = SentMessage::What::packet,
                                 .message = packet.message.message,
                                 .from = named(packet.sender),
                                 .to = named(packet.receiver),
                                 .line = packet.line,
                                 .departs = at,
                                 .carries_data = packet.carries_data});
}

Endpoint Network::named(int endpoint) const {
  const int buses = static_cast<int>(layout_.cores_on_bus.size());
  if (endpoint < buses) return {Endpoint::Kind::controller, endpoint};
  if (endpoint < layout_.first_group()) return {Endpoint::Kind::directory, endpoint - buses};
  return {Endpoint::Kind::group, endpoint - layout_.first_group()};
}

void Network::take_link(PacketIndex index, Tick at) {
  const Packet& packet = packets_[index];
  const int number = map_.next_link[packet.at][packet.to];
  LinkState& link = links_[number];
  const std::size_t message_class = ordinal(packet.message_class);
  std::deque<PacketIndex>& waiting = link.waiting[message_class];
  if (spec_.credits > 0 && (link.in_use[message_class] == spec_.credits || !waiting.empty())) {
    REACHED(message_waits_for_a_credit);
    waiting.push_back(index);
  } else {
    go(index, number, at);
  }
}

void Network::go(PacketIndex index, int number, Tick at) {
  Packet& packet = packets_[index];
  LinkState& link = links_[number];
  release_link(packet, at);
  if (spec_.credits > 0) ++link.in_use[ordinal(packet.message_class)];
  packet.held_link = number;
  packet.at = link.to;
  const Tick start = std::max(at, link.free);
  const Tick busy = link.occupancy[packet.carries_data ? 1 : 0];
  link.free = start + busy;
  if (start >= warmup_end_ && start < end_) {
    link.busy += busy;
    link.bytes += bytes_of(packet.carries_data);
  }
  if (timeline_ != nullptr) {
    timeline_->link(link.from, link.to, store_.address_of(packet.line), packet.carries_data, start, link.free + link.latency);
  }
  // Cut-through routing: a message's head moves on at once, so its bytes cost time only on the last link.
  if (link.to == packet.to) {
    const Tick beside = pair_costs_[node_of(packet.sender)][packet.to];
    push(link.free + link.latency + beside, Stage::arrive, index);
  } else {
    push(start + link.latency, Stage::link, index);
  }
}

// Frees the buffer that the packet occupies at a link's end. The credit takes the link's latency to return to the sender.
void Network::release_link(Packet& packet, Tick at) {
  if (packet.held_link < 0) return;
  const auto buffer =
      static_cast<std::uint32_t>(packet.held_link) * kMessageClasses + static_cast<std::uint32_t>(packet.message_class);
  const Tick back = at + std::max<Tick>(1, links_[packet.held_link].latency);
  packet.held_link = -1;
  if (spec_.credits == 0) return;
  constexpr std::uint64_t kAfterAllSenders = std::uint64_t{0xFFFF} << 32;
  calendar_.push({back, kAfterAllSenders | buffer, buffer, Stage::credit});
}

void Network::take_credit(std::uint32_t buffer, Tick at) {
  const int number = static_cast<int>(buffer / kMessageClasses);
  LinkState& link = links_[number];
  --link.in_use[buffer % kMessageClasses];
  std::deque<PacketIndex>& waiting = link.waiting[buffer % kMessageClasses];
  if (waiting.empty()) return;
  const PacketIndex next = waiting.front();
  waiting.pop_front();
  go(next, number, at);
}

void Network::arrive(PacketIndex index, Tick at) {
  const int receiver = packets_[index].receiver;
  if (listener_ != nullptr) [[unlikely]]
    listener_->arrived(packets_[index].told, at);
  Tick& free = controller_free_[controller_of(receiver)];
  const Tick start = std::max(at, free);
  free = start + groups_.occupancy(receiver, timing_.occupancy);
  if (start > at) return push(start, Stage::handle, index);
  run({at, orders_[index], index, Stage::handle});
}

std::vector<LinkStatistics> Network::links() const {
  std::vector<LinkStatistics> statistics;
  for (const LinkState& link : links_) statistics.push_back({link.from, link.to, link.busy, link.bytes});
  return statistics;
}

std::string Network::describe_pending() const {
  std::string text;
  std::vector<Item> items = calendar_.items();
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return b > a; });
  for (const Item& item : items) {
    if (item.stage == Stage::credit) continue;
    const Packet& packet = packets_[item.what];
    text += fmt::format("  network: message {} for line 0x{:x} from endpoint {} to {}, next at tick {}\n",
                        packet.message.message, store_.address_of(packet.line), packet.sender, packet.receiver, item.at);
  }
  return text;
}

}  // namespace linebounce
