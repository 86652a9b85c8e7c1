#include "models/coherence/checker/tree/check_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/coherence/checker/search.hpp"
#include "models/coherence/checker/tree/tree_system.hpp"

namespace linebounce {
namespace checker {
namespace {

struct TreeRowsRun {
  explicit TreeRowsRun(const TreeSystem& system) : group(system.group.rows.size()), directory(system.directory().rows.size()) {}
  std::vector<bool> group, directory;
};

// Runs steps on a world.
class TreeSteps {
 public:
  TreeSteps(const TreeSystem& system, TreeWorld& world, TreeRowsRun& rows_run)
      : system_(system), world_(world), rows_run_(rows_run) {}

  // Errors: Broken, ProtocolFault, which leave the world partly changed.
  void run(const TreeStep& step) {
    value_ = step.value;
    switch (step.kind) {
      case TreeStepKind::load: access(step.group, step.cache, kLoad); break;
      case TreeStepKind::store: access(step.group, step.cache, kStore); break;
      case TreeStepKind::evict: access(step.group, step.cache, kEvict); break;
      case TreeStepKind::give_up: give_up(step.group, Storage::cache); break;
      case TreeStepKind::give_up_entry: give_up(step.group, Storage::entries); break;
      case TreeStepKind::arrive: arrive(step.arrives); break;
    }
    system_.clear_dead_variables(world_);
  }
  [[nodiscard]] bool value_used() const { return value_used_; }

 private:
  struct CacheOut {
    TreeSteps& steps;
    int group, number;
    [[nodiscard]] TreeCache& self() const { return steps.world_.cache(group, number); }
    void send_home(const NetworkMessage& message) const { steps.send(group + 1, message, kMemory, self().data); }
    void send(int to, const NetworkMessage& message) const {
      steps.send(group + 1, message, to == kGroupItself ? kMemory : to, self().data);
    }
    void take_data() const { self().data = steps.hand_data_; }
    void run() const {}
    void recall(MessageId) const {}
    void complete() const { steps.complete(group, number); }
    void free() const {}
    void send_member(int, const NetworkMessage&) const {}
    [[nodiscard]] static int members() { return 0; }
    void update_memory() const {}
    void on_transition(StateId, EventId) const {}
  };
  struct GroupOut {
    TreeSteps& steps;
    int number;
    [[nodiscard]] TreeGroup& self() const { return steps.world_.group(number); }
    void send_home(const NetworkMessage& message) const { steps.send(0, message, kMemory, self().data); }
    void send(int to, const NetworkMessage& message) const { steps.send(0, message, to, self().data); }
    void send_member(int to, const NetworkMessage& message) const { steps.send(number + 1, message, to, self().data); }
    void take_data() const { self().data = steps.hand_data_; }
    [[nodiscard]] static int members() { return 0; }
    void update_memory() const {}
    void run() const {}
    void recall(MessageId) const {}
    void complete() const {}
    void free() const {}
    void on_transition(StateId state, EventId event) const {
      steps.rows_run_.group[state * steps.system_.group.events.size() + event] = true;
    }
  };
  struct HomeOut {
    TreeSteps& steps;
    [[nodiscard]] int members() const { return steps.system_.groups; }
    void send_home(const NetworkMessage&) const {}
    void send(int, const NetworkMessage&) const {}
    void take_data() const {}
    void run() const {}
    void recall(MessageId) const {}
    void complete() const {}
    void free() const {}
    void send_member(int to, const NetworkMessage& message) const { steps.send(0, message, to, steps.world_.memory_data); }
    void update_memory() const { steps.world_.memory_data = steps.hand_data_; }
    void on_transition(StateId state, EventId event) const {
      steps.rows_run_.directory[state * steps.system_.directory().events.size() + event] = true;
    }
  };

  [[nodiscard]] std::string cache_name(int group, int number) const {
    return fmt::format("cache {}.{} (in {})", group, number,
                       system_.cache().states[world_.cache(group, number).entry.state].name);
  }

  void access(int group, int number, CacheEvent event) {
    TreeCache& self = world_.cache(group, number);
    CacheOut out{*this, group, number};
    const StepResult result = controller_step(system_.flat.agent_rules, self.entry, number, event, {}, out);
    if (result == StepResult::hit) return read_and_write(group, number, event);
    if (result == StepResult::stalled || event == kEvict) return;
    if (self.access != Waiting::nothing)
      throw Broken{Property::accounted, cache_name(group, number) + " has two accesses that wait"};
    self.access = waiting_for(event);
  }

  // Completes a cache's pending access. The cache's state is already the row's next state.
  void complete(int group, int number) {
    TreeCache& self = world_.cache(group, number);
    const Waiting waiting = self.access;
    self.access = Waiting::nothing;
    const CacheEvent event = waiting == Waiting::store ? kStore : kLoad;
    const Row& row = system_.cache().row(self.entry.state, system_.cache().base_events[event].first);
    const bool hits = !row.impossible && row.count == 1 && row.actions[0].verb == Verb::hit;
    if (waiting == Waiting::nothing || !hits) {
      throw Broken{Property::accounted, cache_name(group, number) + " completes an access that doesn't wait, or doesn't hit"};
    }
    access(group, number, event);
  }

  void read_and_write(int group, int number, CacheEvent event) {
    TreeCache& self = world_.cache(group, number);
    if (system_.protocols.group.invariant_data_value && self.data != world_.latest) {
      throw Broken{Property::data_value,
                   fmt::format("{} {} a copy with the value {}, but {} was written last", cache_name(group, number),
                               event == kStore ? "writes into" : "reads", self.data, world_.latest)};
    }
    if (event != kStore) return;
    self.data = world_.latest = value_;
    value_used_ = true;
  }

  void give_up(int number, Storage from) {
    GroupOut out{*this, number};
    ControllerEntry& entry = world_.group(number).entry;
    if (evict_step(system_.group_rules, entry, number, from, out) == StepResult::stalled) return;
    if (system_.group_rules.can_evict(entry, from))
      throw Broken{Property::accounted, fmt::format("group {} keeps a place that it has given up", number)};
  }

  void arrive(const TreeMessage& message) {
    const auto begin = world_.messages.begin(), end = begin + static_cast<std::ptrdiff_t>(world_.message_count);
    const auto place = std::find(begin, end, message) - begin;
    hand_data_ = message.data;
    StepResult result{};
    if (message.network == 0 && message.to == kMemory) {
      HomeOut out{*this};
      result = message_step(system_.flat.home_rules, world_.directory, 0, Side::member, message.message, out);
    } else if (message.network == 0 || message.to == kMemory) {
      const int number = message.network == 0 ? message.to : message.network - 1;
      GroupOut out{*this, number};
      ControllerEntry& entry = world_.group(number).entry;
      const Side side = message.network == 0 ? Side::outside : Side::member;
      result = message_step(system_.group_rules, entry, number, side, message.message, out);
      check_acks(entry.acks, fmt::format("group {}", number));
    } else {
      const int group = message.network - 1;
      CacheOut out{*this, group, message.to};
      ControllerEntry& entry = world_.cache(group, message.to).entry;
      result = message_step(system_.flat.agent_rules, entry, message.to, Side::outside, message.message, out);
      check_acks(entry.acks, cache_name(group, message.to));
    }
    if (result == StepResult::stalled) return;
    const auto at = world_.messages.begin() + place;
    std::copy(at + 1, world_.messages.begin() + static_cast<std::ptrdiff_t>(world_.message_count), at);
    world_.messages[--world_.message_count] = {};
  }

  static void check_acks(int acks, const std::string& who) {
    constexpr int kMost = kMaxCheckedMembers;
    if (acks < -kMost || acks > kMost)
      throw Broken{Property::accounted, fmt::format("{} expects {} acknowledgements", who, acks)};
  }

  void send(int network, NetworkMessage message, int to, std::uint8_t data) {
    TreeMessage sent{message, network, to, 0};
    const MessageUse& use = system_.use(sent);
    if (to == kNobody || (use.requestor && message.requestor == kNobody)) {
      throw Broken{Property::accounted, fmt::format("{} is sent to or on behalf of somebody that its sender does not know",
                                                    system_.messages()[message.message].name)};
    }
    if (!use.requestor) sent.message.requestor = network > 0 && to >= 0 ? kGroupItself : static_cast<std::int8_t>(kNobody);
    if (!use.source || to != kMemory) sent.message.source = kNobody;
    if (!use.acks) sent.message.acks = 0;
    if (use.data && system_.messages()[message.message].carries_data) sent.data = data;
    if (world_.message_count == world_.messages.size()) {
      throw CheckTooLarge(fmt::format("{}: nothing is proved: more than {} messages are under way at once",
                                      system_.protocols.group.name, world_.message_count));
    }
    world_.messages[world_.message_count++] = sent;
  }

  const TreeSystem& system_;
  TreeWorld& world_;
  TreeRowsRun& rows_run_;
  std::uint8_t hand_data_ = 0;
  std::uint8_t value_ = 0;
  bool value_used_ = false;
};

// The Model (see search.hpp) of a tree.
class TreeModel {
 public:
  using Key = TreeKey;
  using World = TreeWorld;
  using Step = TreeStep;

  TreeModel(const TreeProtocols& protocols, const TreeCheckOptions& options)
      : system_(protocols, options), options_(options), rows_run_(system_) {}

  [[nodiscard]] TreeKey key_of(const TreeWorld& world) const {
    return options_.symmetry ? system_.canonical(world) : system_.pack(world, system_.renamings.front());
  }
  [[nodiscard]] TreeWorld unpack(const TreeKey& key) const { return system_.unpack(key); }

  void enabled(const TreeWorld& world, bool /*symmetry*/, std::vector<TreeStep>& steps) const {
    steps.clear();
    for (int g = 0; g < system_.groups; ++g) {
      for (int c = 0; c < system_.members_of(g); ++c) {
        steps.push_back({TreeStepKind::load, g, c});
        steps.push_back({TreeStepKind::store, g, c});
        if (world.cache(g, c).entry.state != 0) steps.push_back({TreeStepKind::evict, g, c});
      }
      if (system_.group_rules.occupies(world.group(g).entry, Storage::cache)) steps.push_back({TreeStepKind::give_up, g});
      if (system_.group_rules.occupies(world.group(g).entry, Storage::entries))
        steps.push_back({TreeStepKind::give_up_entry, g});
    }
    std::array<bool, 16> behind{};
    for (std::size_t i = 0; i < world.message_count; ++i) {
      const TreeMessage& message = world.messages[i];
      const auto* const begin = world.messages.begin();
      if (system_.is_forward(message.message.message) && message.to >= 0) {
        bool& waits = behind[static_cast<std::size_t>(message.network) * 4 + static_cast<std::size_t>(message.to)];
        if (waits) continue;
        waits = true;
      } else if (std::find(begin, begin + i, message) != begin + i) {
        continue;  // an equal message already has a step
      }
      TreeStep step{TreeStepKind::arrive};
      step.arrives = message;
      steps.push_back(step);
    }
  }

  bool run(TreeWorld& world, const TreeStep& step) {
    TreeSteps steps(system_, world, rows_run_);
    steps.run(step);
    return steps.value_used();
  }

  void check(const TreeWorld& world) const {
    const auto& states = system_.cache().states;
    int writers = 0, readers = 0;
    for_caches(world, [&](int group, int number, const TreeCache& cache) {
      const StateInfo& state = states[cache.entry.state];
      writers += static_cast<int>(state.writable);
      readers += static_cast<int>(state.readable);
      const std::string name = fmt::format("cache {}.{} (in {})", group, number, state.name);
      if (system_.protocols.group.invariant_data_value && state.readable && cache.data != world.latest) {
        throw Broken{Property::data_value,
                     fmt::format("{} can read the value {}, but {} was written last", name, cache.data, world.latest)};
      }
      if (cache.access != Waiting::nothing && state.stable)
        throw Broken{Property::accounted, name + " has forgotten the access that waits"};
    });
    if (system_.protocols.group.invariant_swmr && writers > 0 && readers > 1)
      throw Broken{Property::single_writer, "a cache can write while another can read"};
  }

  [[nodiscard]] bool quiescent(const TreeWorld& world) const {
    if (world.message_count != 0 || !system_.directory().states[world.directory.state].stable) return false;
    bool rests = true;
    for (int g = 0; g < system_.groups; ++g) {
      rests &= system_.group.states[world.group(g).entry.state].stable && world.group(g).entry.acks == 0;
    }
    for_caches(world, [&](int, int, const TreeCache& cache) {
      rests &= system_.cache().states[cache.entry.state].stable && cache.entry.acks == 0 && cache.access == Waiting::nothing;
    });
    return rests;
  }

  void saw(const TreeWorld& /*world*/) {}
  [[nodiscard]] static Broken broken_by(const ProtocolFault& fault) { return {property_of(fault.kind), fault.what()}; }
  [[nodiscard]] std::string too_large(std::size_t states) const {
    return fmt::format(
        "{}: nothing is proved: there are more than {} states, and {} MiB hold no more; try fewer groups or caches{}",
        system_.protocols.group.name, states, options_.memory_limit_mib, options_.symmetry ? "" : ", or symmetry reduction");
  }

  // The group's rows that never ran. A row that the protocol's file gives without a guard becomes one table row for each
  // qualified event, all with the same source line. It has run if any of these has run, and is reported at most once.
  [[nodiscard]] std::vector<UnreachedRow> unreached() const {
    std::vector<UnreachedRow> rows;
    const ControllerTable& table = system_.group;
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      for (const BaseEvent& event : table.base_events) {
        for (int word = 0; word < event.count; ++word) {
          const std::size_t first = state * table.events.size() + event.first;
          const Row& row = table.rows[first + static_cast<std::size_t>(word)];
          if (row.impossible) continue;
          bool runs = false, named = false;
          for (int other = 0; other < event.count; ++other) {
            const std::size_t at = first + static_cast<std::size_t>(other);
            if (table.rows[at].source_line != row.source_line) continue;
            runs |= rows_run_.group[at];
            named |= other < word;
          }
          if (runs || named) continue;
          rows.push_back(
              {Controller::group, static_cast<StateId>(state), static_cast<EventId>(event.first + word), row.source_line});
        }
      }
    }
    return rows;
  }

  [[nodiscard]] const TreeSystem& system() const { return system_; }

 private:
  template <class Visit>
  void for_caches(const TreeWorld& world, Visit visit) const {
    for (int g = 0; g < system_.groups; ++g) {
      for (int c = 0; c < system_.members_of(g); ++c) visit(g, c, world.cache(g, c));
    }
  }

  const TreeSystem system_;
  const TreeCheckOptions options_;
  TreeRowsRun rows_run_;
};

std::string step_text(const TreeSystem& system, const TreeStep& step) {
  const auto cache = [&step] { return fmt::format("cache {}.{}", step.group, step.cache); };
  switch (step.kind) {
    case TreeStepKind::load: return cache() + " reads";
    case TreeStepKind::store: return fmt::format("{} writes {}", cache(), step.value);
    case TreeStepKind::evict: return cache() + " evicts the line";
    case TreeStepKind::give_up: return fmt::format("group {} evicts the line", step.group);
    case TreeStepKind::give_up_entry: return fmt::format("group {} evicts the filter's entry", step.group);
    case TreeStepKind::arrive: break;
  }
  const TreeMessage& message = step.arrives;
  const std::string& name = system.messages()[message.message.message].name;
  if (message.network == 0 && message.to == kMemory) return fmt::format("{} arrives at the home", name);
  if (message.network == 0) return fmt::format("{} arrives at group {}", name, message.to);
  if (message.to == kMemory) return fmt::format("{} of a member arrives at group {}", name, message.network - 1);
  return fmt::format("{} arrives at cache {}.{}", name, message.network - 1, message.to);
}

std::string states_text(const TreeSystem& system, const TreeWorld& world) {
  std::string text = "home " + system.directory().states[world.directory.state].name;
  for (int g = 0; g < system.groups; ++g) {
    text += fmt::format("; group {} {}:", g, system.group.states[world.group(g).entry.state].name);
    for (int c = 0; c < system.members_of(g); ++c) text += " " + system.cache().states[world.cache(g, c).entry.state].name;
  }
  return text;
}

}  // namespace
}  // namespace checker

TreeCheckResult check_tree(const TreeProtocols& protocols, const TreeCheckOptions& options) {
  checker::TreeModel model(protocols, options);
  TreeCheckResult result;
  checker::Search(model, options.symmetry, options.memory_limit_mib).run(result);
  if (!result.violation) result.unreached = model.unreached();
  return result;
}

std::string tree_steps_text(const TreeProtocols& protocols, const TreeCheckOptions& options,
                            const CheckViolation<TreeStep>& violation) {
  checker::TreeModel model(protocols, options);
  checker::TreeWorld world;
  std::string text;
  for (std::size_t i = 0; i < violation.steps.size(); ++i) {
    text += fmt::format("  {:2}  {}\n", i + 1, checker::step_text(model.system(), violation.steps[i]));
    try {
      model.run(world, violation.steps[i]);
    } catch (const checker::Broken&) {
      break;
    } catch (const ProtocolFault&) {
      break;
    }
    text += fmt::format("        {}\n", checker::states_text(model.system(), world));
  }
  return text;
}

std::vector<TreeCheckOptions> default_trees() {
  return {{.groups = 2, .members = 2}, {.groups = 3, .members = 1}};
}

TreeCheckOptions tree_of_three_and_one() {
  return {.groups = 2, .members = 3, .last_members = 1};
}

}  // namespace linebounce
