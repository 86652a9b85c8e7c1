#include "models/coherence/checker/counterexample.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/coherence/checker/diagram.hpp"
#include "models/coherence/checker/world_copies.hpp"

namespace linebounce {
namespace {

using checker::Diagram;
using checker::World;

class Recorder final : public checker::StepWatcher {
 public:
  Recorder(const Protocol& protocol, int caches) : protocol_(protocol), caches_(caches) {}

  void begin(const CheckStep& step, const World& world) {
    now_ = ReplayedStep{};
    now_.step = step;
    now_.notes.resize(static_cast<std::size_t>(caches_) + 1);
    now_.rows.resize(static_cast<std::size_t>(caches_) + 1);
    if (step.kind == StepKind::order) {
      now_.message = static_cast<MessageId>(world.caches[step.cache].request - 1);
      supplier_ = kNobody;
    }
    if (step.kind == StepKind::data) {
      now_.supplier = supplier_;
      now_.data = world.bus_data;
    }
  }

  ReplayedStep end(const World& world) {
    now_.states.clear();
    now_.values.clear();
    for (int cache = 0; cache < caches_; ++cache) {
      const checker::ControllerWorld& copy = world.caches[cache];
      const StateInfo& state = protocol_.cache.states[copy.entry.state];
      now_.states.push_back(state.name);
      now_.values.push_back(state.readable ? copy.data : -1);
    }
    now_.states.push_back(protocol_.memory.states[world.memory.entry.state].name);
    now_.values.push_back(world.memory.data);
    return now_;
  }

  void transition(Controller controller, int cache, StateId state, EventId event) override {
    const ControllerTable& table = controller == Controller::cache ? protocol_.cache : protocol_.memory;
    const Row& row = table.row(state, event);
    now_.rows[column(cache)].push_back(row.source_line);
    if (row.next != state) note(cache, fmt::format("{} -> {}", table.states[state].name, table.states[row.next].name));
    std::vector<std::string> raised;
    for (const Action action : row.steps()) {
      if (action.verb == Verb::assert_shared) raised.emplace_back("shared");
      if (action.verb == Verb::assert_owned) raised.emplace_back("owned");
      if (action.verb == Verb::issue) note(cache, fmt::format("issues {}", protocol_.messages[action.argument].name));
      if (action.verb == Verb::stall) note(cache, "stalls");
      if (action.verb == Verb::update_memory || (action.verb == Verb::take_data && !snoops(controller, event)))
        note(cache, fmt::format("takes {}", on_bus_));
      if (action.verb == Verb::take_data && snoops(controller, event)) note(cache, "takes what passes");
    }
    if (!raised.empty()) note(cache, fmt::format("says {}", fmt::join(raised, ", ")));
  }
  void read(int cache, std::uint8_t value) override { note(cache, fmt::format("reads {}", value)); }
  void wrote(int cache, std::uint8_t value) override { note(cache, fmt::format("writes {}", value)); }
  void took_word(int cache, std::uint8_t value) override { note(cache, fmt::format("takes word {}", value)); }
  void drove_bus(int sender, std::uint8_t value) override {
    note(sender, fmt::format("sends {}", value));
    supplier_ = sender;
    on_bus_ = value;
  }

 private:
  [[nodiscard]] bool snoops(Controller controller, EventId event) const {
    if (controller != Controller::cache) return false;
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) {
      if (protocol_.cache.base_events[other_event(static_cast<MessageId>(m))].first == event) return true;
    }
    return false;
  }
  void note(int cache, std::string text) { now_.notes[column(cache)].push_back(std::move(text)); }
  [[nodiscard]] std::size_t column(int cache) const { return cache == kMemory ? caches_ : cache; }

  const Protocol& protocol_;
  const int caches_;
  ReplayedStep now_;
  int supplier_ = kNobody;
  std::uint8_t on_bus_ = 0;
};

std::string access_text(const CheckStep& step) {
  switch (step.kind) {
    case StepKind::load: return "Load";
    case StepKind::store: return fmt::format("Store {}", step.value);
    case StepKind::atomic: return fmt::format("Atomic {}", step.value);
    default: return "Evict";
  }
}

void draw(Diagram& diagram, const Protocol& protocol, const ReplayedStep& shown, std::size_t number, int caches) {
  const std::size_t cache = shown.step.cache;
  const std::size_t memory = caches;
  const std::string margin = std::to_string(number);
  diagram.gap();
  if (shown.message) {
    diagram.arrow(margin, cache, 0, memory, protocol.messages[*shown.message].name, false);
  } else if (shown.step.kind == StepKind::data && shown.supplier != kNobody) {
    const std::size_t from = shown.supplier == kMemory ? memory : static_cast<std::size_t>(shown.supplier);
    diagram.arrow(margin, from, std::min(from, cache), std::max(from, cache), fmt::format("data {}", shown.data), true);
  } else {
    std::vector<std::string> texts(memory + 1);
    texts[cache] = access_text(shown.step);
    diagram.cells(margin, texts);
  }
  diagram.notes(shown.notes);
}

}  // namespace

std::vector<ReplayedStep> replay(const Protocol& protocol, const CheckOptions& options, const Violation& violation) {
  std::vector<ReplayedStep> steps;
  World world;
  checker::RowsRun ignored(protocol);
  Recorder recorder(protocol, options.caches);
  checker::WorldCopies copies(protocol, options, world, ignored, &recorder);
  for (const CheckStep& step : violation.steps) {
    recorder.begin(step, world);
    try {
      copies.run(step);
    } catch (const checker::Broken&) {  // thrown by the last step, which is shown as far as it ran
    } catch (const ProtocolFault&) {
    }
    steps.push_back(recorder.end(world));
  }
  return steps;
}

std::vector<std::string> start_states(const Protocol& protocol, int caches) {
  std::vector<std::string> states(caches, protocol.cache.states.front().name);
  states.push_back(protocol.memory.states.front().name);
  return states;
}

std::string message_diagram(const Protocol& protocol, const CheckOptions& options, const Violation& violation) {
  Diagram diagram(options.caches + 1, 22);
  std::vector<std::string> names;
  for (int cache = 0; cache < options.caches; ++cache) names.push_back(fmt::format("cache {}", cache));
  names.emplace_back("memory");
  diagram.cells("step", names);
  std::vector<std::string> states = start_states(protocol, options.caches);
  states.back() += ", has 0";
  diagram.cells("", states);
  const std::vector<ReplayedStep> steps = replay(protocol, options, violation);
  for (std::size_t i = 0; i < steps.size(); ++i) draw(diagram, protocol, steps[i], i + 1, options.caches);
  diagram.gap();
  diagram.cells("", steps.empty() ? states : steps.back().states);
  return fmt::format("{}\n  Broken: {}.\n  {}\n", diagram.text(), property_text(violation.property), violation.text);
}

std::string property_text(Property property) {
  switch (property) {
    case Property::single_writer: return "single writer or many readers";
    case Property::data_value: return "what is read is what was written last";
    case Property::impossible_pair: return "nothing happens that the table calls impossible";
    case Property::one_supplier: return "one supplier of data at a time";
    case Property::data_arrives: return "data for whoever waits for it";
    case Property::accounted: return "every access and request that waits is accounted for";
    case Property::no_deadlock: return "no deadlock";
    case Property::can_finish: return "every request can finish";
  }
  return "";
}

}  // namespace linebounce
