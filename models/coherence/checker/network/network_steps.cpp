#include "models/coherence/checker/network/network_steps.hpp"

#include <fmt/format.h>

namespace linebounce::checker {

class NetworkSteps::AgentOut {
 public:
  AgentOut(NetworkSteps& steps, int agent) : steps_(steps), agent_(agent) {}

  void send_home(const NetworkMessage& message) { steps_.send(place(), message, kMemory, self().data); }
  void send(int agent, const NetworkMessage& message) { steps_.send(place(), message, agent, self().data); }
  void send_member(int, const NetworkMessage&) {}
  [[nodiscard]] static int members() { return 0; }
  void update_memory() {}
  void take_data() {
    if (!steps_.hand_full_) throw Broken{Property::data_arrives, steps_.name(place()) + " takes data, but nobody has sent any"};
    self().data = steps_.hand_data_;
    if (steps_.watcher_ != nullptr) steps_.watcher_->took(place(), self().data);
  }
  void run() {
    if (self().entry.member == kNobody)
      throw Broken{Property::accounted, steps_.name(place()) + " runs a deferred request, but none waits"};
    steps_.begin_transaction(agent_, kRunTransaction);
  }
  void recall(MessageId message) { steps_.begin_transaction(agent_, static_cast<std::uint8_t>(kRecallTransaction + message)); }
  void complete() { steps_.complete_agent(agent_); }
  void free() {}  // clear_dead_variables() drops the copy, which is dead in the next state
  void on_transition(StateId state, EventId event) { steps_.ran(place(), state, event); }

 private:
  [[nodiscard]] AgentWorld& self() { return steps_.world_.agent(agent_); }
  [[nodiscard]] Place place() const { return {steps_.system_.agent_rules.controller, agent_}; }

  NetworkSteps& steps_;
  const int agent_;
};

class NetworkSteps::DirectoryOut {
 public:
  explicit DirectoryOut(NetworkSteps& steps) : steps_(steps) {}

  [[nodiscard]] int members() const { return steps_.system_.agents; }
  void send_home(const NetworkMessage&) {}
  void send(int, const NetworkMessage&) {}
  void take_data() {}
  void run() {}
  void recall(MessageId) {}
  void complete() {}
  void free() {}
  void send_member(int agent, const NetworkMessage& message) {
    steps_.send({Controller::directory}, message, agent, steps_.world_.memory_data);
  }
  void update_memory() {
    steps_.world_.memory_data = steps_.hand_data_;
    if (steps_.watcher_ != nullptr) steps_.watcher_->took({Controller::directory}, steps_.hand_data_);
  }
  void on_transition(StateId state, EventId event) { steps_.ran({Controller::directory}, state, event); }

 private:
  NetworkSteps& steps_;
};

class NetworkSteps::NodeBus {
 public:
  // `requester` is the cache whose transaction is on the bus, or kMemory for the node controller's own transaction.
  NodeBus(NetworkSteps& steps, int node, int requester) : steps_(steps), node_(node), requester_(requester) {
    for (int cache = 0; cache < steps.system_.caches; ++cache) all_.push_back(cache);
  }

  [[nodiscard]] const std::vector<int>& snoopers(MessageId /*message*/) const { return all_; }
  [[nodiscard]] StateId state(int cache) const { return at(cache).state; }
  [[nodiscard]] StateId memory_state() const { return self().entry.state; }
  void set_state(int cache, StateId state) { at(cache).state = state; }
  void set_memory_state(StateId state) { self().entry.state = state; }
  void copy_to_bus(int cache) { drive(cache, at(cache).data); }
  void memory_to_bus() { drive(kMemory, self().data); }
  void bus_to_copy(int cache) { at(cache).data = self().bus_data; }
  void bus_to_memory() { self().data = self().bus_data; }
  void free(int /*cache*/) {}
  // Never called, because check_network() refuses buses whose stores send words.
  void send_word(int /*cache*/) {}
  void apply_word(int /*cache*/) {}
  void operate(int cache) {
    if (at(cache).access != Waiting::atomic)
      throw Broken{Property::accounted, steps_.name(place(kMemory)) + " operates, but no atomic operation waits"};
    at(cache).access = Waiting::nothing;
    steps_.read_and_write(place(kMemory), self().data, steps_.system_.bus.atomic);
  }
  void issue(int cache, MessageId message) {
    if (at(cache).request != 0) {
      throw Broken{Property::accounted,
                   steps_.name(place(cache)) + " issues a request while another still waits for its order"};
    }
    at(cache).request = static_cast<std::uint8_t>(message + 1);
  }
  void complete(int cache) {
    const Waiting waiting = at(cache).access;
    at(cache).access = Waiting::nothing;
    const std::size_t event = event_of(waiting, steps_.system_.bus);
    if (waiting == Waiting::nothing || access(cache, event) != AccessResult::hit) {
      throw Broken{Property::accounted, steps_.name(place(cache)) + " completes an access that doesn't wait, or doesn't hit"};
    }
  }
  void on_transition(Controller controller, int cache, StateId state, EventId event, StateId) {
    steps_.ran(controller == Controller::memory ? place(kMemory) : place(cache), state, event);
  }
  void node_action(Action action) {
    if (action.verb == Verb::save_asker) steps_.begin_request(node_, requester_);
    AgentOut out(steps_, node_);
    steps_.carry(self().bus_data, drove());
    ControllerStep(steps_.system_.agent_rules, self().entry, node_, {.side = Side::member, .bus_member = requester_}, out)
        .act(action);
  }

  // Whether a controller put data on the bus in this step.
  [[nodiscard]] bool drove() const { return sender_ != kNobody; }

  AccessResult access(int cache, std::size_t event) {
    const AccessResult result = access_step(steps_.system_.bus, *this, cache, event);
    if (result == AccessResult::issued && event != kEvict) {
      if (at(cache).access != Waiting::nothing)
        throw Broken{Property::accounted, steps_.name(place(cache)) + " has two accesses that wait"};
      at(cache).access = waiting_for(event);
    }
    if (result == AccessResult::hit) steps_.read_and_write(place(cache), at(cache).data, event);
    return result;
  }

 private:
  [[nodiscard]] AgentWorld& self() const { return steps_.world_.agent(node_); }
  [[nodiscard]] CacheWorld& at(int cache) const { return self().caches[cache]; }
  [[nodiscard]] Place place(int cache) const {
    return cache == kMemory ? Place{Controller::node, node_} : Place{Controller::cache, node_, cache};
  }
  void drive(int sender, std::uint8_t value) {
    if (sender_ != kNobody && sender_ != sender) {
      throw Broken{Property::one_supplier, fmt::format("{} and {} put data on the bus in the same order step",
                                                       steps_.name(place(sender_)), steps_.name(place(sender)))};
    }
    sender_ = sender;
    self().bus_data = value;
    if (steps_.watcher_ != nullptr) steps_.watcher_->drove_bus(place(sender), value);
  }

  NetworkSteps& steps_;
  const int node_, requester_;
  std::vector<int> all_;
  int sender_ = kNobody;
};

void NetworkSteps::run(const NetworkStep& step) {
  value_ = step.value;
  value_used_ = false;
  switch (step.kind) {
    case NetworkStepKind::load: access(step.agent, step.cache, kLoad); break;
    case NetworkStepKind::store: access(step.agent, step.cache, kStore); break;
    case NetworkStepKind::atomic: access(step.agent, step.cache, system_.bus.atomic); break;
    case NetworkStepKind::evict: access(step.agent, step.cache, kEvict); break;
    case NetworkStepKind::order: order(step.agent, step.cache); break;
    case NetworkStepKind::data: data(step.agent, step.cache); break;
    case NetworkStepKind::run: run_deferred(step.agent); break;
    case NetworkStepKind::recall: recall(step.agent); break;
    case NetworkStepKind::give_up: give_up(step.agent); break;
    case NetworkStepKind::arrive: arrive(step.arrives); break;
    case NetworkStepKind::forget: forget_entry(); break;
  }
  clear_dead_variables(system_, world_);
}

void NetworkSteps::access(int agent, int cache, std::size_t event) {
  if (!system_.has_nodes) return agent_access(agent, event);
  NodeBus(*this, agent, cache).access(cache, event);
}

void NetworkSteps::agent_access(int agent, std::size_t event) {
  AgentWorld& self = world_.agent(agent);
  AgentOut out(*this, agent);
  const StepResult result = controller_step(system_.agent_rules, self.entry, agent, event, {}, out);
  const Place place{Controller::cache, agent};
  if (result == StepResult::hit) return read_and_write(place, self.data, event);
  if (result == StepResult::stalled || event == kEvict) return;
  if (self.access != Waiting::nothing) throw Broken{Property::accounted, name(place) + " has two accesses that wait"};
  self.access = waiting_for(event);
}

// Completes the pending access of a cache on the network. The cache's state is already the row's next state.
void NetworkSteps::complete_agent(int agent) {
  AgentWorld& self = world_.agent(agent);
  const Waiting waiting = self.access;
  self.access = Waiting::nothing;
  const std::size_t event = event_of(waiting, system_.subject);
  const Row& row = system_.agent().row(self.entry.state, system_.agent().base_events[event].first);
  const bool hits = !row.impossible && row.count == 1 && row.actions[0].verb == Verb::hit;
  if (waiting == Waiting::nothing || !hits) {
    throw Broken{Property::accounted,
                 name({Controller::cache, agent}) + " completes an access that doesn't wait, or doesn't hit"};
  }
  agent_access(agent, event);
}

void NetworkSteps::order(int agent, int cache) {
  AgentWorld& self = world_.agent(agent);
  const auto message = static_cast<MessageId>(self.caches[cache].request - 1);
  if (!system_.agent().base_events[ask_event(system_.subject.bus_messages, message)].absent) {
    const int requester_before = self.entry.member;
    AgentOut out(*this, agent);
    const Permission permission = ask_step(system_.agent_rules, self.entry, agent, message, cache, out);
    if (permission.saved && requester_before != kNobody) {
      throw Broken{Property::accounted, name({Controller::node, agent}) + " saves a cache that asks while another still waits"};
    }
    if (!permission.granted) return;
  }
  order_granted(agent, cache);
}

void NetworkSteps::order_granted(int agent, int cache) {
  AgentWorld& self = world_.agent(agent);
  CacheWorld& requestor = self.caches[cache];
  const std::uint8_t request = requestor.request;
  requestor.request = 0;
  NodeBus bus(*this, agent, cache);
  const OrderOutcome outcome = order_step(system_.bus, bus, static_cast<MessageId>(request - 1), cache);
  if (outcome.deferred) requestor.request = request;
  requestor.data_due = outcome.needs_data_step;
  if (!requestor.data_due) self.bus_data = 0;  // no step will read the value, so it must not distinguish states
}

void NetworkSteps::data(int agent, int cache) {
  NodeBus bus(*this, agent, cache);
  data_step(system_.bus, bus, cache);
  world_.agent(agent).caches[cache].data_due = false;
  world_.agent(agent).bus_data = 0;
}

void NetworkSteps::run_deferred(int agent) {
  AgentWorld& self = world_.agent(agent);
  const int requester = self.entry.member;
  self.entry.member = kNobody;
  self.transaction = kNoTransaction;
  order_granted(agent, requester);
}

void NetworkSteps::recall(int agent) {
  AgentWorld& self = world_.agent(agent);
  const auto message = static_cast<MessageId>(self.transaction - kRecallTransaction);
  self.transaction = kNoTransaction;
  NodeBus bus(*this, agent, kMemory);
  const OrderOutcome outcome = recall_step(system_.bus, bus, message);
  carry(self.bus_data, bus.drove());
  self.bus_data = 0;
  AgentOut out(*this, agent);
  controller_step(system_.agent_rules, self.entry, agent, recalled_event(system_.subject.bus_messages, message),
                  {.owned = outcome.lines.owned}, out);
}

void NetworkSteps::give_up(int agent) {
  AgentOut out(*this, agent);
  evict_step(system_.agent_rules, world_.agent(agent).entry, agent, Storage::cache, out);
}

void NetworkSteps::forget_entry() {
  DirectoryOut out(*this);
  evict_step(system_.home_rules, world_.directory, 0, Storage::entries, out);
}

void NetworkSteps::arrive(const MessageUnderWay& under_way) {
  const std::size_t place = place_of(under_way);
  carry(under_way.data, system_.network.messages[under_way.message.message].carries_data);
  StepResult result{};
  if (under_way.to == kMemory) {
    DirectoryOut out(*this);
    result = message_step(system_.home_rules, world_.directory, 0, Side::member, under_way.message, out);
  } else {
    ControllerEntry& entry = world_.agent(under_way.to).entry;
    AgentOut out(*this, under_way.to);
    result = message_step(system_.agent_rules, entry, under_way.to, Side::outside, under_way.message, out);
    if (entry.acks <= -system_.agents || entry.acks >= system_.agents) {
      throw Broken{Property::accounted,
                   fmt::format("{} expects {} acknowledgements of {} others",
                               name({system_.agent_rules.controller, under_way.to}), entry.acks, system_.agents - 1)};
    }
  }
  if (result == StepResult::stalled) return;
  const auto at = world_.messages.begin() + static_cast<std::ptrdiff_t>(place);
  std::copy(at + 1, world_.messages.begin() + static_cast<std::ptrdiff_t>(world_.message_count), at);
  world_.messages[--world_.message_count] = 0;
}

std::size_t NetworkSteps::place_of(const MessageUnderWay& message) const {
  const auto end = world_.messages.begin() + static_cast<std::ptrdiff_t>(world_.message_count);
  return std::find(world_.messages.begin(), end, pack(message)) - world_.messages.begin();
}

void NetworkSteps::send(const Place& from, NetworkMessage message, int to, std::uint8_t data) {
  if (to == kNobody) {
    throw Broken{Property::accounted, fmt::format("{} sends {} to somebody that it does not know", name(from),
                                                  system_.network.messages[message.message].name)};
  }
  const MessageUse& use = (to == kMemory ? system_.to_home : system_.to_agent)[message.message];
  if (use.requestor && message.requestor == kNobody) {
    throw Broken{Property::accounted, fmt::format("{} sends {} on behalf of somebody that it does not know", name(from),
                                                  system_.network.messages[message.message].name)};
  }
  if (!use.requestor) message.requestor = kNobody;
  if (!use.source) message.source = kNobody;
  if (!use.acks) message.acks = 0;
  const bool carries = use.data && system_.network.messages[message.message].carries_data;
  const MessageUnderWay under_way{message, to, carries ? data : std::uint8_t{0}};
  if (world_.message_count == world_.messages.size()) {
    throw CheckTooLarge(fmt::format("{}: nothing is proved: more than {} messages are under way at once", system_.subject.name,
                                    world_.message_count));
  }
  world_.messages[world_.message_count++] = pack(under_way);
  if (watcher_ != nullptr) watcher_->sent(from, under_way);
}

// Runs an access on `data`. Checks that `data` is up to date even for a store, because a store writes only part of the line.
void NetworkSteps::read_and_write(const Place& place, std::uint8_t& data, std::size_t event) {
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
  } else if (place.controller == system_.agent_rules.controller) {
    rows_run_.agent[state * system_.agent().events.size() + event] = true;
  }
  if (watcher_ != nullptr) watcher_->transition(place, state, event);
}

void NetworkSteps::begin_transaction(int agent, std::uint8_t transaction) {
  if (world_.agent(agent).transaction != kNoTransaction) {
    throw Broken{Property::accounted, name({Controller::node, agent}) + " has two transactions that wait for its bus"};
  }
  world_.agent(agent).transaction = transaction;
}

void NetworkSteps::begin_request(int agent, int requester) {
  if (world_.agent(agent).entry.member == kNobody || world_.agent(agent).entry.member == requester) return;
  throw Broken{Property::accounted, name({Controller::node, agent}) + " saves a cache that asks while another still waits"};
}

std::string NetworkSteps::name(const Place& place) const {
  if (place.controller == Controller::directory) {
    return fmt::format("the directory (in {})", system_.directory().states[world_.directory.state].name);
  }
  const AgentWorld& agent = world_.agent(place.agent);
  if (place.controller == Controller::node) {
    return fmt::format("node {} (in {})", place.agent, system_.agent().states[agent.entry.state].name);
  }
  if (!system_.has_nodes) return fmt::format("cache {} (in {})", place.agent, system_.cache().states[agent.entry.state].name);
  const StateId state = agent.caches[place.cache].state;
  return fmt::format("cache {}.{} (in {})", place.agent, place.cache, system_.cache().states[state].name);
}

void NetworkSteps::enabled(const CheckedSystem& system, const NetworkWorld& world, bool symmetry,
                           std::vector<NetworkStep>& steps) {
  steps.clear();
  for (int a = 0; a < system.agents; ++a) {
    const AgentWorld& agent = world.agent(a);
    const bool due = agent.data_step_due();
    const int caches = system.has_nodes ? system.caches : 1;
    for (int c = 0; c < caches; ++c) {
      const CacheWorld& cache = agent.caches[c];
      const bool same = system.has_nodes && symmetry && c > 0 && cache == agent.caches[static_cast<std::size_t>(c) - 1] &&
                        agent.entry.member != c && agent.entry.member != c - 1;
      if (same) continue;
      steps.push_back({NetworkStepKind::load, a, c});
      steps.push_back({NetworkStepKind::store, a, c});
      if (system.bus.has_far_atomics()) steps.push_back({NetworkStepKind::atomic, a, c});
      const StateId state = system.has_nodes ? cache.state : agent.entry.state;
      if (state != 0) steps.push_back({NetworkStepKind::evict, a, c});
      if (cache.request != 0 && !due && agent.entry.member != c) steps.push_back({NetworkStepKind::order, a, c});
      if (cache.data_due) steps.push_back({NetworkStepKind::data, a, c});
    }
    if (!system.has_nodes) continue;
    if (agent.transaction == kRunTransaction && !due) steps.push_back({NetworkStepKind::run, a});
    if (agent.transaction >= kRecallTransaction && !due) steps.push_back({NetworkStepKind::recall, a});
    const bool evicts = system.agent_rules.eviction(Storage::cache) != nullptr;
    if (evicts && agent.entry.state != 0) steps.push_back({NetworkStepKind::give_up, a});
  }
  if (system.home_rules.eviction(Storage::entries) != nullptr && world.directory.state != 0)
    steps.push_back({NetworkStepKind::forget});
  std::array<bool, kMaxCheckedAgents> behind{};
  for (std::size_t i = 0; i < world.message_count; ++i) {
    const MessageUnderWay message = unpack_message(world.messages[i]);
    if (system.is_forward(message.message.message) && message.to != kMemory) {
      bool& waits = behind[message.to];
      if (waits) continue;
      waits = true;
    } else if (std::find(world.messages.begin(), world.messages.begin() + static_cast<std::ptrdiff_t>(i), world.messages[i]) !=
               world.messages.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;  // an equal message already has a step
    }
    NetworkStep step{NetworkStepKind::arrive, message.to};
    step.arrives = message;
    steps.push_back(step);
  }
}

namespace {

// The facts about a cache that the property checks need, whether the cache is on the network or in a node.
struct CacheView {
  int agent, cache;
  StateId state;
  std::uint8_t data;
  Waiting access;
};

template <class Visit>
void for_caches(const CheckedSystem& system, const NetworkWorld& world, Visit visit) {
  for (int a = 0; a < system.agents; ++a) {
    const AgentWorld& agent = world.agent(a);
    if (!system.has_nodes) visit(CacheView{a, 0, agent.entry.state, agent.data, agent.access});
    for (int c = 0; c < system.caches; ++c) {
      const CacheWorld& cache = agent.caches[c];
      visit(CacheView{a, c, cache.state, cache.data, cache.access});
    }
  }
}

std::string name_of(const CheckedSystem& system, const CacheView& cache) {
  const std::string& state = system.cache().states[cache.state].name;
  return system.has_nodes ? fmt::format("cache {}.{} (in {})", cache.agent, cache.cache, state)
                          : fmt::format("cache {} (in {})", cache.agent, state);
}

void check_single_writer(const CheckedSystem& system, const NetworkWorld& world) {
  const auto& states = system.cache().states;
  for_caches(system, world, [&](const CacheView& writer) {
    if (!states[writer.state].writable) return;
    for_caches(system, world, [&](const CacheView& other) {
      const bool same = writer.agent == other.agent && writer.cache == other.cache;
      if (same || !states[other.state].readable) return;
      throw Broken{Property::single_writer,
                   fmt::format("{} can write while {} can {}", name_of(system, writer), name_of(system, other),
                               states[other.state].writable ? "write too" : "read")};
    });
  });
}

void check_accounts(const CheckedSystem& system, const NetworkWorld& world, const CacheView& cache) {
  const StateInfo& info = system.cache().states[cache.state];
  const char* wrong = nullptr;
  if (cache.access != Waiting::nothing && info.stable) wrong = "has forgotten the access that waits";
  if (system.has_nodes) {
    const CacheWorld& copy = world.agent(cache.agent).caches[cache.cache];
    const bool waits = copy.access != Waiting::nothing || !info.stable;
    if (waits && copy.request == 0 && !copy.data_due) wrong = "waits, but no request of it is under way";
    if (copy.request != 0 && info.stable) wrong = "has forgotten its request, which is still under way";
  }
  if (wrong != nullptr) throw Broken{Property::accounted, fmt::format("{} {}", name_of(system, cache), wrong)};
}

}  // namespace

void check_world(const CheckedSystem& system, const NetworkWorld& world) {
  if (system.subject.invariant_swmr) check_single_writer(system, world);
  for_caches(system, world, [&](const CacheView& cache) {
    if (system.subject.invariant_data_value && system.cache().states[cache.state].readable && cache.data != world.latest) {
      throw Broken{Property::data_value, fmt::format("{} can read the value {}, but {} was written last",
                                                     name_of(system, cache), cache.data, world.latest)};
    }
    check_accounts(system, world, cache);
  });
}

bool is_quiescent(const CheckedSystem& system, const NetworkWorld& world) {
  if (world.message_count != 0 || !system.directory().states[world.directory.state].stable) return false;
  for (int a = 0; a < system.agents; ++a) {
    const AgentWorld& agent = world.agent(a);
    if (!system.agent().states[agent.entry.state].stable || agent.entry.acks != 0) return false;
    if (agent.access != Waiting::nothing || agent.transaction != kNoTransaction || agent.entry.member != kNobody) return false;
    for (int c = 0; c < system.caches; ++c) {
      const CacheWorld& cache = agent.caches[c];
      if (cache.request != 0 || cache.access != Waiting::nothing || cache.data_due ||
          !system.cache().states[cache.state].stable)
        return false;
    }
  }
  return true;
}

}  // namespace linebounce::checker
