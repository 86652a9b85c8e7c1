#include "models/coherence/checker/network/network_diagram.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "models/coherence/checker/counterexample.hpp"
#include "models/coherence/checker/diagram.hpp"
#include "models/coherence/checker/network/network_steps.hpp"

namespace linebounce {
namespace {

using checker::CheckedSystem;
using checker::NetworkWorld;
using checker::Place;

constexpr std::size_t kColumnWidth = 16;

// Assigns a column of the diagram to each cache, to each node controller and to the home.
class Columns {
 public:
  explicit Columns(const CheckedSystem& system) : system_(system) {}

  [[nodiscard]] std::size_t count() const { return home() + 1; }
  [[nodiscard]] std::size_t home() const { return cache(system_.agents, 0); }
  [[nodiscard]] std::size_t cache(int agent, int cache) const { return first(agent) + static_cast<std::size_t>(cache); }
  // The column of an agent; for a node or group, the column of its controller.
  [[nodiscard]] std::size_t agent(int agent) const { return cache(agent, system_.caches(agent)); }
  [[nodiscard]] std::size_t of(const Place& place) const {
    if (place.controller == Controller::directory) return home();
    return system_.is_inside(place) ? cache(place.agent, place.cache) : agent(place.agent);
  }

  [[nodiscard]] std::vector<std::string> headings() const {
    std::vector<std::string> names;
    for (int a = 0; a < system_.agents; ++a) {
      for (int c = 0; c < system_.caches(a); ++c) names.push_back(system_.name(system_.cache_place(a, c)));
      names.push_back(system_.name(system_.agent_place(a)));
    }
    names.emplace_back("home");
    return names;
  }

  [[nodiscard]] std::vector<std::string> states(const NetworkWorld& world) const {
    std::vector<std::string> names;
    for (int a = 0; a < system_.agents; ++a) {
      for (int c = 0; c < system_.caches(a); ++c) {
        names.push_back(system_.cache().states[world.agent(a).caches[c].entry.state].name);
      }
      names.push_back(system_.agent().states[world.agent(a).entry.state].name);
    }
    names.push_back(system_.directory().states[world.home.entry.state].name);
    return names;
  }

 private:
  // The column of the agent's first cache.
  [[nodiscard]] std::size_t first(int agent) const {
    std::size_t column = 0;
    for (int a = 0; a < agent; ++a) column += static_cast<std::size_t>(system_.caches(a)) + 1;
    return column;
  }
  const CheckedSystem& system_;
};

class NetworkRecorder final : public checker::NetworkWatcher {
 public:
  explicit NetworkRecorder(const CheckedSystem& system) : system_(system), columns_(system) {
    suppliers_.resize(system.agents);
  }

  void begin(const NetworkStep& step, const NetworkWorld& world) {
    now_ = ReplayedNetworkStep{};
    now_.step = step;
    now_.notes.resize(columns_.count());
    now_.rows.resize(columns_.count());
    describe(step, world);
  }
  ReplayedNetworkStep end(const NetworkWorld& world) {
    now_.states = columns_.states(world);
    return now_;
  }

  void transition(const Place& place, StateId state, EventId event) override {
    const Protocol& protocol = protocol_of(place);
    const ControllerTable& table = protocol.table(place.controller);
    const Row& row = table.row(state, event);
    if (!system_.is_inside(place)) now_.rows[columns_.of(place)].push_back(row.source_line);
    if (row.next != state) note(place, fmt::format("{} -> {}", table.states[state].name, table.states[row.next].name));
    std::vector<std::string> raised;
    for (const Action action : row.steps()) {
      if (action.verb == Verb::assert_shared) raised.emplace_back("shared");
      if (action.verb == Verb::assert_owned) raised.emplace_back("owned");
      if (action.verb == Verb::issue) note(place, fmt::format("issues {}", protocol.messages[action.argument].name));
      if (action.verb == Verb::recall) note(place, fmt::format("recalls {}", protocol.messages[action.argument].name));
      if (action.verb == Verb::stall) note(place, "stalls");
      if (action.verb == Verb::defer) note(place, "defers");
    }
    if (!raised.empty()) note(place, fmt::format("says {}", fmt::join(raised, ", ")));
  }
  void read(const Place& place, std::uint8_t value) override { note(place, fmt::format("reads {}", value)); }
  void wrote(const Place& place, std::uint8_t value) override { note(place, fmt::format("writes {}", value)); }
  void drove_bus(const Place& place, std::uint8_t value) override {
    note(place, fmt::format("drives {}", value));
    suppliers_[place.agent] = columns_.of(place);
  }
  void took(const Place& place, std::uint8_t value) override { note(place, fmt::format("takes {}", value)); }
  void sent(const Place& place, const MessageUnderWay& message) override {
    note(place, fmt::format("sends {}", name_of(message)));
    under_way_.emplace_back(message, columns_.of(place));
  }

 private:
  [[nodiscard]] const Protocol& protocol_of(const Place& place) const {
    if (place.controller == Controller::node || place.controller == Controller::group) return system_.subject;
    return system_.has_nodes && system_.is_inside(place) ? system_.bus : system_.network;
  }
  [[nodiscard]] std::string name_of(const MessageUnderWay& message) const {
    return system_.network.messages[message.message.message].name;
  }

  [[nodiscard]] std::string requestor_of(const MessageUnderWay& message) const {
    const int requestor = message.message.requestor, group = message.network - 1;
    if (message.network == 0) return system_.name(system_.agent_place(requestor));
    return system_.name(requestor == kGroupItself ? system_.agent_place(group) : system_.cache_place(group, requestor));
  }

  void describe(const NetworkStep& step, const NetworkWorld& world) {
    const std::size_t cache = columns_.of(system_.cache_place(step.agent, step.cache));
    const bool evicts = step.kind == NetworkStepKind::give_up || step.kind == NetworkStepKind::forget;
    const Place evicting = step.agent == kMemory ? Place{Controller::directory} : system_.agent_place(step.agent);
    now_.from = now_.first = now_.last = evicts ? columns_.of(evicting) : cache;
    switch (step.kind) {
      case NetworkStepKind::load: now_.text = "Load"; break;
      case NetworkStepKind::store: now_.text = fmt::format("Store {}", step.value); break;
      case NetworkStepKind::atomic: now_.text = fmt::format("Atomic {}", step.value); break;
      case NetworkStepKind::evict:
      case NetworkStepKind::give_up: now_.text = "Evict"; break;
      case NetworkStepKind::forget: now_.text = step.agent == kMemory ? "Evict" : "Evict_Entry"; break;
      case NetworkStepKind::order: on_bus(step, cache, world.agent(step.agent).caches[step.cache].request - 1); break;
      case NetworkStepKind::run: {
        const int requester = world.agent(step.agent).entry.member;
        on_bus(step, columns_.cache(step.agent, requester), world.agent(step.agent).caches[requester].request - 1);
        break;
      }
      case NetworkStepKind::recall:
        on_bus(step, columns_.agent(step.agent), world.agent(step.agent).transaction - checker::kRecallTransaction);
        break;
      case NetworkStepKind::data:
        now_.text = fmt::format("data {}", world.agent(step.agent).bus_data);
        between(suppliers_[step.agent], cache);
        break;
      case NetworkStepKind::arrive: arrives(step.arrives); break;
    }
  }

  void on_bus(const NetworkStep& step, std::size_t from, int message) {
    now_.text = system_.bus.messages[message].name;
    now_.from = from;
    now_.first = columns_.cache(step.agent, 0);
    now_.last = columns_.agent(step.agent);
    now_.passes = false;
  }

  void arrives(const MessageUnderWay& message) {
    now_.text = name_of(message);
    if (system_.network.messages[message.message.message].carries_data) now_.text += fmt::format(" {}", message.data);
    const auto sent =
        std::find_if(under_way_.begin(), under_way_.end(), [&](const auto& entry) { return entry.first == message; });
    if (sent == under_way_.end()) return;
    const std::size_t to = columns_.of(system_.receiver(message));
    between(sent->second, to);
    if (message.to != kMemory && message.message.requestor != kNobody) {
      now_.notes[to].push_back("for " + requestor_of(message));
    }
    under_way_.erase(sent);
  }

  void between(std::size_t from, std::size_t to) {
    now_.from = from;
    now_.first = std::min(from, to);
    now_.last = std::max(from, to);
  }

  void note(const Place& place, std::string text) { now_.notes[columns_.of(place)].push_back(std::move(text)); }

  const CheckedSystem& system_;
  const Columns columns_;
  ReplayedNetworkStep now_;
  std::vector<std::size_t> suppliers_;                              // by node: the column of the last sender on the node's bus
  std::vector<std::pair<MessageUnderWay, std::size_t>> under_way_;  // each message, and its sender's column
};

void draw(checker::Diagram& diagram, const ReplayedNetworkStep& shown, std::size_t number) {
  const std::string margin = std::to_string(number);
  diagram.gap();
  if (shown.first < shown.last) {
    diagram.arrow(margin, shown.from, shown.first, shown.last, shown.text, shown.passes);
  } else {
    std::vector<std::string> texts(shown.notes.size());
    texts[shown.from] = shown.text;
    diagram.cells(margin, texts);
  }
  diagram.notes(shown.notes);
}

}  // namespace

std::vector<std::string> network_columns(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
  const CheckedSystem system(protocols, options);
  return Columns(system).headings();
}

std::vector<std::string> network_start_states(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
  const CheckedSystem system(protocols, options);
  return Columns(system).states(NetworkWorld{});
}

std::vector<ReplayedNetworkStep> replay(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                                        const NetworkViolation& violation) {
  const CheckedSystem system(protocols, options);
  std::vector<ReplayedNetworkStep> steps;
  NetworkWorld world;
  checker::NetworkRowsRun ignored(system);
  NetworkRecorder recorder(system);
  checker::NetworkSteps next(system, world, ignored, &recorder);
  for (const NetworkStep& step : violation.steps) {
    recorder.begin(step, world);
    try {
      next.run(step);
    } catch (const checker::Broken&) {  // thrown by the last step, which is shown as far as it ran
    } catch (const ProtocolFault&) {
    }
    steps.push_back(recorder.end(world));
  }
  return steps;
}

std::string message_diagram(const NetworkProtocols& protocols, const NetworkCheckOptions& options,
                            const NetworkViolation& violation) {
  const CheckedSystem system(protocols, options);
  const Columns columns(system);
  checker::Diagram diagram(static_cast<int>(columns.count()), kColumnWidth);
  diagram.cells("step", columns.headings());
  const std::vector<std::string> states = columns.states(NetworkWorld{});
  diagram.cells("", states);
  const std::vector<ReplayedNetworkStep> steps = replay(protocols, options, violation);
  for (std::size_t i = 0; i < steps.size(); ++i) draw(diagram, steps[i], i + 1);
  diagram.gap();
  diagram.cells("", steps.empty() ? states : steps.back().states);
  return fmt::format("{}\n  Broken: {}.\n  {}\n", diagram.text(), property_text(violation.property), violation.text);
}

}  // namespace linebounce
