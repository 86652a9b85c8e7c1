#include "tests/models/coherence/checker/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace linebounce::test {
namespace {

Row without_action(const Row& row, std::size_t dropped) {
  Row changed = row;
  std::copy(row.actions.begin() + static_cast<std::ptrdiff_t>(dropped) + 1, row.actions.begin() + row.count,
            changed.actions.begin() + static_cast<std::ptrdiff_t>(dropped));
  --changed.count;
  return changed;
}

void add_mutants_of_row(const Protocol& good, Controller controller, std::size_t base, const std::vector<std::size_t>& places,
                        std::vector<Mutant>& mutants) {
  const ControllerTable& table = good.table(controller);
  const std::size_t place = places.front();
  const Row& row = table.rows[place];
  const bool one_word = places.size() < table.base_events[base].count;
  const std::string name = fmt::format("{} {} {}", table.name, table.states[place / table.events.size()].name,
                                       one_word ? table.events[place % table.events.size()] : table.base_events[base].name);
  const auto add = [&](const std::string& change, const Row& changed) {
    mutants.push_back({name + ": " + change, controller, places, changed});
  };
  const bool stalls = row.stalls();
  for (std::size_t next = 0; next < table.states.size() && !(stalls && good.kind != ProtocolKind::bus); ++next) {
    if (next == row.next) continue;
    Row changed = row;
    changed.next = static_cast<StateId>(next);
    add("to " + table.states[next].name, changed);
  }
  const bool of_processor = controller == Controller::cache && (base <= kEvict || base == good.atomic);
  const bool node_evicts = controller == Controller::node && base == node_evict_event(good.bus_messages);
  const bool group_evicts = controller == Controller::group && (base == group_evict_event(good.messages.size()) ||
                                                                base == group_evict_entry_event(good.messages.size()));
  const bool only_answer = row.count == 1 && (of_processor || ((node_evicts || group_evicts) && stalls));
  for (std::size_t dropped = 0; dropped < row.count && !only_answer; ++dropped) {
    add(fmt::format("without action {}", dropped + 1), without_action(row, dropped));
  }
  // If a group's eviction were impossible, the line would have no storage slot. No eviction would begin, so the deleted row
  // would not be missed.
  if (group_evicts) return;
  Row deleted = row;
  deleted.impossible = true;
  add("deleted", deleted);
}

// Adds the mutants of a state's rows for one base event. In the file, each word of the event's guard may have a row of its
// own, or one row may stand for several words; rows with the same source line are one row.
void add_mutants_at(const Protocol& good, Controller controller, std::size_t state, std::size_t base,
                    std::vector<Mutant>& mutants) {
  const ControllerTable& table = good.table(controller);
  const std::size_t first = state * table.events.size() + table.base_events[base].first;
  const std::size_t end = first + table.base_events[base].count;
  for (std::size_t place = first; place < end; ++place) {
    const int line = table.rows[place].source_line;
    const auto same_row = [&](std::size_t other) { return table.rows[other].source_line == line; };
    std::vector<std::size_t> places;
    for (std::size_t other = first; other < end; ++other) {
      if (same_row(other)) places.push_back(other);
    }
    if (places.front() == place && !table.rows[place].impossible) add_mutants_of_row(good, controller, base, places, mutants);
  }
}

template <class Named>
std::size_t index_of(const std::vector<Named>& things, const std::string& name) {
  for (std::size_t i = 0; i < things.size(); ++i) {
    if constexpr (std::is_same_v<Named, std::string>) {
      if (things[i] == name) return i;
    } else if (things[i].name == name) {
      return i;
    }
  }
  throw std::out_of_range(name);
}

}  // namespace

Protocol Mutant::of(const Protocol& good) const {
  Protocol protocol = good;
  for (const std::size_t place : places) protocol.table(controller).rows[place] = row;
  return protocol;
}

std::vector<Mutant> mutants_of(const Protocol& good) {
  std::vector<Mutant> mutants;
  for (const Controller controller :
       {Controller::cache, Controller::memory, Controller::directory, Controller::node, Controller::group}) {
    const ControllerTable& table = good.table(controller);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      for (std::size_t base = 0; base < table.base_events.size(); ++base)
        add_mutants_at(good, controller, state, base, mutants);
    }
  }
  return mutants;
}

Row& row_of(Protocol& protocol, const std::string& state, const std::string& event) {
  ControllerTable& table = protocol.cache;
  return table.rows[index_of(table.states, state) * table.events.size() + index_of(table.events, event)];
}

Row& memory_row_of(Protocol& protocol, const std::string& event) {
  return protocol.memory.rows[index_of(protocol.memory.events, event)];
}

StateId state_of(const Protocol& protocol, const std::string& name) {
  return static_cast<StateId>(index_of(protocol.cache.states, name));
}

void drop(Row& row, Verb verb) {
  const auto begin = row.actions.begin();
  const auto found = std::find_if(begin, begin + row.count, [verb](Action action) { return action.verb == verb; });
  row = without_action(row, static_cast<std::size_t>(found - begin));
}

}  // namespace linebounce::test
