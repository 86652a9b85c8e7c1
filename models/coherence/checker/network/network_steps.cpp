#include "models/coherence/checker/network/network_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace linebounce::checker {

std::string name_in_state(const CheckedSystem& system, const NetworkWorld& world, const Place& place) {
  const bool cache = place.controller == Controller::cache;
  const ControllerTable& table = cache ? system.cache() : *system.rules(place).table;
  return fmt::format("{} (in {})", system.name(place), table.states[world.at(system, place).entry.state].name);
}

class NetworkSteps::Outbox {
 public:
  Outbox(NetworkSteps& steps, const Place& place) : steps_(steps), place_(place) {}

  void send_home(const NetworkMessage& message) { steps_.send(place_, network(), message, kMemory); }
  void send(int agent, const NetworkMessage& message) {
    steps_.send(place_, network(), message, agent == kGroupItself ? kMemory : agent);
  }
  void send_member(int member, const NetworkMessage& message) {
    steps_.send(place_, place_.controller == Controller::directory ? 0 : place_.agent + 1, message, member);
  }
  [[nodiscard]] int members() const { return steps_.system_.agents; }
  void take_data() {
    if (!steps_.hand_full_) throw Broken{Property::data_arrives, steps_.name(place_) + " takes data, but nobody has sent any"};
    self().data = steps_.hand_data_;
    if (steps_.watcher_ != nullptr) steps_.watcher_->took(place_, self().data);
  }
  void update_memory() { take_data(); }
  void run() {
    if (self().entry.member == kNobody)
      throw Broken{Property::accounted, steps_.name(place_) + " runs a deferred request, but none waits"};
    steps_.begin_transaction(place_.agent, kRunTransaction);
  }
  void recall(MessageId message) {
    steps_.begin_transaction(place_.agent, static_cast<std::uint8_t>(kRecallTransaction + message));
  }
  void complete() { steps_.complete(place_); }
  void free() {}  // does nothing: the copy is dead in the next state, so clear_dead_variables() clears it
  void on_transition(StateId state, EventId event, StateId) { steps_.ran(place_, state, event); }

 private:
  [[nodiscard]] ControllerWorld& self() { return steps_.at(place_); }
  // The number of the network that connects the controller to its parent.
  [[nodiscard]] int network() const { return steps_.system_.is_inside(place_) ? place_.agent + 1 : 0; }

  NetworkSteps& steps_;
  const Place place_;
};

class NetworkSteps::NodeBus : public BusCopies<NodeBus> {
 public:
  // `requester` is the cache whose transaction is on the bus, or kMemory for the node controller's own transaction.
  NodeBus(NetworkSteps& steps, int node, int requester) : steps_(steps), node_(node), requester_(requester) {}

  [[nodiscard]] std::span<const int> snoopers(MessageId /*message*/) const {
    static constexpr std::array<int, kMaxCheckedNodeCaches> kAll = {0, 1, 2, 3};
    return {kAll.data(), static_cast<std::size_t>(steps_.system_.caches(node_))};
  }
  void on_transition(Controller controller, int cache, StateId state, EventId event, StateId) {
    steps_.ran(place(controller == Controller::memory ? kMemory : cache), state, event);
  }
  void node_action(Action action) {
    if (action.verb == Verb::save_asker) steps_.check_nobody_waits(node_, requester_);
    Outbox out(steps_, place(kMemory));
    steps_.carry(bus_data(), has_data());
    ControllerStep(steps_.system_.agent_rules, memory().entry, node_, {.side = Side::member, .bus_member = requester_}, out)
        .act(action);
  }

  // BusCopies calls the members below.
  [[nodiscard]] const Protocol& protocol() const { return steps_.system_.bus; }
  [[nodiscard]] ControllerWorld& cache(int number) { return steps_.world_.agent(node_).caches[number]; }
  [[nodiscard]] AgentWorld& memory() { return steps_.world_.agent(node_); }
  [[nodiscard]] std::uint8_t& bus_data() { return memory().bus_data; }
  [[nodiscard]] std::string name(int controller) const { return steps_.name(place(controller)); }
  void read_and_write(int controller, std::size_t event) { steps_.read_and_write(place(controller), event); }
  void take_word(int /*cache*/) {}  // never called: check_network() refuses buses whose stores send words
  void drove(int sender, std::uint8_t value) {
    if (steps_.watcher_ != nullptr) steps_.watcher_->drove_bus(place(sender), value);
  }

 private:
  [[nodiscard]] Place place(int controller) const {
    return controller == kMemory ? steps_.system_.agent_place(node_) : steps_.system_.cache_place(node_, controller);
  }

  NetworkSteps& steps_;
  const int node_, requester_;
};

void NetworkSteps::run(const NetworkStep& step) {
  value_ = step.value;
  value_used_ = false;
  const Place cache = system_.cache_place(step.agent, step.cache);
  switch (step.kind) {
    case NetworkStepKind::load: access(cache, kLoad); break;
    case NetworkStepKind::store: access(cache, kStore); break;
    case NetworkStepKind::atomic: access(cache, system_.bus.atomic); break;
    case NetworkStepKind::evict: access(cache, kEvict); break;
    case NetworkStepKind::order: order(step.agent, step.cache); break;
    case NetworkStepKind::data: NodeBus(*this, step.agent, step.cache).data(step.cache); break;
    case NetworkStepKind::run: run_deferred(step.agent); break;
    case NetworkStepKind::recall: recall(step.agent); break;
    case NetworkStepKind::give_up: evict(system_.agent_place(step.agent), Storage::cache); break;
    case NetworkStepKind::arrive: arrive(step.arrives); break;
    case NetworkStepKind::forget:
      evict(step.agent == kMemory ? Place{Controller::directory} : system_.agent_place(step.agent), Storage::entries);
      break;
  }
  clear_dead_variables(system_, world_);
}

void NetworkSteps::access(const Place& cache, std::size_t event) {
  if (!system_.has_nodes) return access_on_network(cache, event);
  NodeBus(*this, cache.agent, cache.cache).access(cache.cache, event);
}

void NetworkSteps::access_on_network(const Place& cache, std::size_t event) {
  ControllerWorld& self = at(cache);
  Outbox out(*this, cache);
  const StepResult result = controller_step(system_.rules(cache), self.entry, system_.number(cache), event, {}, out);
  if (result == StepResult::hit) return read_and_write(cache, event);
  if (result == StepResult::stalled || event == kEvict) return;
  if (self.access != Waiting::nothing) throw Broken{Property::accounted, name(cache) + " has two accesses that wait"};
  self.access = waiting_for(event);
}

// Completes the pending access of a cache on a network. The cache's state is already the row's next state.
void NetworkSteps::complete(const Place& cache) {
  ControllerWorld& self = at(cache);
  const Waiting waiting = self.access;
  self.access = Waiting::nothing;
  const std::size_t event = event_of(waiting, system_.network);
  const Row& row = system_.cache().row(self.entry.state, system_.cache().base_events[event].first);
  const bool hits = !row.impossible && row.count == 1 && row.actions[0].verb == Verb::hit;
  if (waiting == Waiting::nothing || !hits) {
    throw Broken{Property::accounted, name(cache) + " completes an access that doesn't wait, or doesn't hit"};
  }
  access_on_network(cache, event);
}

void NetworkSteps::order(int agent, int cache) {
  AgentWorld& self = world_.agent(agent);
  const auto message = static_cast<MessageId>(self.caches[cache].request - 1);
  if (!system_.agent().base_events[ask_event(system_.subject.bus_messages, message)].absent) {
    const int waits = self.entry.member;
    Outbox out(*this, system_.agent_place(agent));
    const Permission permission = ask_step(system_.agent_rules, self.entry, agent, message, cache, out);
    if (permission.saved && waits != kNobody) {
      throw Broken{Property::accounted,
                   name(system_.agent_place(agent)) + " saves a cache that asks while another still waits"};
    }
    if (!permission.granted) return;
  }
  NodeBus(*this, agent, cache).order(cache);
}

void NetworkSteps::run_deferred(int agent) {
  AgentWorld& self = world_.agent(agent);
  const int requester = self.entry.member;
  self.entry.member = kNobody;
  self.transaction = kNoTransaction;
  NodeBus(*this, agent, requester).order(requester);
}

void NetworkSteps::recall(int agent) {
  AgentWorld& self = world_.agent(agent);
  const auto message = static_cast<MessageId>(self.transaction - kRecallTransaction);
  self.transaction = kNoTransaction;
  NodeBus bus(*this, agent, kMemory);
  const OrderOutcome outcome = recall_step(system_.bus, bus, message);
  carry(self.bus_data, bus.has_data());
  self.bus_data = 0;
  Outbox out(*this, system_.agent_place(agent));
  controller_step(system_.agent_rules, self.entry, agent, recalled_event(system_.subject.bus_messages, message),
                  {.owned = outcome.lines.owned}, out);
}

void NetworkSteps::evict(const Place& place, Storage from) {
  const ControllerRules& rules = system_.rules(place);
  Outbox out(*this, place);
  if (evict_step(rules, at(place).entry, place.agent, from, out) == StepResult::stalled) return;
  if (system_.has_groups && rules.can_evict(at(place).entry, from))
    throw Broken{Property::accounted, name(place) + " keeps a slot that it has given up"};
}

void NetworkSteps::arrive(const MessageUnderWay& under_way) {
  const auto begin = world_.messages.begin(), end = begin + static_cast<std::ptrdiff_t>(world_.message_count);
  const auto position = std::find(begin, end, under_way) - begin;
  carry(under_way.data, system_.network.messages[under_way.message.message].carries_data);
  const Place place = system_.receiver(under_way);
  const Side side = under_way.to == kMemory ? Side::member : Side::outside;
  Outbox out(*this, place);
  const StepResult result =
      message_step(system_.rules(place), at(place).entry, system_.number(place), side, under_way.message, out);
  check_acks(place);
  if (result == StepResult::stalled) return;
  const auto gap = world_.messages.begin() + position;
  std::copy(gap + 1, world_.messages.begin() + static_cast<std::ptrdiff_t>(world_.message_count), gap);
  world_.messages[--world_.message_count] = {};
}

// An agent expects acknowledgements only from the other agents, or a group from its members, so their number is limited.
void NetworkSteps::check_acks(const Place& place) {
  const int acks = at(place).entry.acks;
  const int most = system_.has_groups ? kMaxCheckedMembers : system_.agents - 1;
  if (acks >= -most && acks <= most) return;
  throw Broken{Property::accounted,
               fmt::format("{} expects {} acknowledgements, and there are {} others", name(place), acks, most)};
}

void NetworkSteps::send(const Place& from, int network, NetworkMessage message, int to) {
  const Message& kind = system_.network.messages[message.message];
  if (to == kNobody) {
    throw Broken{Property::accounted, fmt::format("{} sends {} to somebody that it does not know", name(from), kind.name)};
  }
  MessageUnderWay sent{.message = message, .network = static_cast<std::int8_t>(network), .to = static_cast<std::int8_t>(to)};
  const MessageUse& use = system_.use(way_of(sent), message.message);
  if (use.requestor && message.requestor == kNobody) {
    throw Broken{Property::accounted,
                 fmt::format("{} sends {} on behalf of somebody that it does not know", name(from), kind.name)};
  }
  if (!use.requestor) message.requestor = kNobody;
  if (!use.source) message.source = kNobody;
  if (!use.acks) message.acks = 0;
  sent.message = message;
  if (use.data && kind.carries_data) sent.data = at(from).data;
  if (world_.message_count == world_.messages.size()) {
    throw CheckTooLarge(fmt::format("{}: nothing is proved: more than {} messages are under way at once", system_.subject.name,
                                    world_.message_count));
  }
  world_.messages[world_.message_count++] = sent;
  if (watcher_ != nullptr) watcher_->sent(from, sent);
}

// Runs an access on a controller's data. Checks that the data is up to date even for a store, because a store writes only part
// of the line.
void NetworkSteps::read_and_write(const Place& place, std::size_t event) {
  std::uint8_t& data = at(place).data;
  if (system_.subject.invariant_data_value && data != world_.latest) {
    throw Broken{Property::data_value, fmt::format("{} {} a copy with the value {}, but {} was written last", name(place),
                                                   event == kLoad ? "reads" : "writes into", data, world_.latest)};
  }
  if (event == kLoad) {
    if (watcher_ != nullptr) watcher_->read(place, data);
    return;
  }
  data = world_.latest = value_;
  value_used_ = true;
  if (watcher_ != nullptr) watcher_->wrote(place, value_);
}

void NetworkSteps::ran(const Place& place, StateId state, EventId event) {
  if (place.controller == Controller::directory) {
    rows_run_.directory[state * system_.directory().events.size() + event] = true;
  } else if (!system_.is_inside(place)) {
    rows_run_.agent[state * system_.agent().events.size() + event] = true;
  }
  if (watcher_ != nullptr) watcher_->transition(place, state, event);
}

void NetworkSteps::begin_transaction(int agent, std::uint8_t transaction) {
  if (world_.agent(agent).transaction != kNoTransaction) {
    throw Broken{Property::accounted, name(system_.agent_place(agent)) + " has two transactions that wait for its bus"};
  }
  world_.agent(agent).transaction = transaction;
}

void NetworkSteps::check_nobody_waits(int agent, int requester) {
  const int waits = world_.agent(agent).entry.member;
  if (waits == kNobody || waits == requester) return;
  throw Broken{Property::accounted, name(system_.agent_place(agent)) + " saves a cache that asks while another still waits"};
}

void NetworkSteps::enabled(const CheckedSystem& system, const NetworkWorld& world, bool symmetry,
                           std::vector<NetworkStep>& steps) {
  steps.clear();
  for (int a = 0; a < system.agents; ++a) {
    const AgentWorld& agent = world.agent(a);
    const bool due = system.has_nodes && agent.data_step_due();
    const bool alone = system.caches(a) == 0;  // true if the agent is a cache itself
    for (int c = 0; alone ? c == 0 : c < system.caches(a); ++c) {
      const ControllerWorld& cache = alone ? agent : agent.caches[c];
      const bool same = system.has_nodes && symmetry && c > 0 && cache == agent.caches[static_cast<std::size_t>(c) - 1] &&
                        agent.entry.member != c && agent.entry.member != c - 1;
      if (same) continue;
      steps.push_back({NetworkStepKind::load, a, c});
      steps.push_back({NetworkStepKind::store, a, c});
      if (system.bus.has_far_atomics()) steps.push_back({NetworkStepKind::atomic, a, c});
      if (cache.entry.state != 0) steps.push_back({NetworkStepKind::evict, a, c});
      if (cache.request != 0 && !due && agent.entry.member != c) steps.push_back({NetworkStepKind::order, a, c});
      if (cache.data_due) steps.push_back({NetworkStepKind::data, a, c});
    }
    if (alone) continue;
    if (agent.transaction == kRunTransaction && !due) steps.push_back({NetworkStepKind::run, a});
    if (agent.transaction >= kRecallTransaction && !due) steps.push_back({NetworkStepKind::recall, a});
    const ControllerRules& rules = system.agent_rules;
    const bool holds = system.has_groups ? rules.occupies(agent.entry, Storage::cache)
                                         : rules.eviction(Storage::cache) != nullptr && agent.entry.state != 0;
    if (holds) steps.push_back({NetworkStepKind::give_up, a});
    if (rules.occupies(agent.entry, Storage::entries)) steps.push_back({NetworkStepKind::forget, a});
  }
  if (!system.has_groups && system.home_rules.eviction(Storage::entries) != nullptr && world.home.entry.state != 0)
    steps.push_back({NetworkStepKind::forget, kMemory});
  const auto* const first = world.messages.begin();
  for (const auto* message = first; message != first + world.message_count; ++message) {
    const bool queued = message->to != kMemory && system.is_forward(message->message.message);
    const auto waits_behind = [&](const MessageUnderWay& earlier) {
      if (!queued) return earlier == *message;  // an equal message already has a step
      return earlier.network == message->network && earlier.to == message->to && system.is_forward(earlier.message.message);
    };
    if (std::any_of(first, message, waits_behind)) continue;
    NetworkStep step{NetworkStepKind::arrive};
    step.arrives = *message;
    steps.push_back(step);
  }
}

namespace {

template <class Visit>
void for_caches(const CheckedSystem& system, const NetworkWorld& world, Visit visit) {
  for (int a = 0; a < system.agents; ++a) {
    if (system.caches(a) == 0) visit(system.cache_place(a, 0), world.agent(a));
    for (int c = 0; c < system.caches(a); ++c) visit(system.cache_place(a, c), world.agent(a).caches[c]);
  }
}

}  // namespace

void check_world(const CheckedSystem& system, const NetworkWorld& world) {
  check_caches(system.subject, system.cache(), system.has_nodes, world.latest, [&](auto visit) {
    for_caches(system, world, [&](const Place& place, const ControllerWorld& cache) {
      visit([&system, &world, &place] { return name_in_state(system, world, place); }, cache);
    });
  });
}

bool is_quiescent(const CheckedSystem& system, const NetworkWorld& world) {
  if (world.message_count != 0 || !is_quiescent(world.home, system.directory())) return false;
  bool quiescent = true;
  for (int a = 0; a < system.agents; ++a) {
    const AgentWorld& agent = world.agent(a);
    quiescent &= is_quiescent(agent, system.agent()) && agent.transaction == kNoTransaction;
    if (system.has_nodes) quiescent &= agent.entry.member == kNobody;
  }
  for_caches(system, world,
             [&](const Place&, const ControllerWorld& cache) { quiescent &= is_quiescent(cache, system.cache()); });
  return quiescent;
}

}  // namespace linebounce::checker
