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

void add_mutants_of_row(const ControllerTable& table, bool of_cache, std::size_t place, std::vector<Mutant>& mutants) {
  const Row& row = table.rows[place];
  if (row.impossible) return;
  const std::string name = fmt::format("{} {} {}", table.name, table.states[place / table.events.size()].name,
                                       table.events[place % table.events.size()]);
  const auto add = [&](const std::string& change, const Row& changed) {
    mutants.push_back({name + ": " + change, of_cache, place, changed});
  };
  for (std::size_t next = 0; next < table.states.size(); ++next) {
    if (next == row.next) continue;
    Row changed = row;
    changed.next = static_cast<StateId>(next);
    add("to " + table.states[next].name, changed);
  }
  const bool of_processor = of_cache && place % table.events.size() <= kEvict;
  for (std::size_t dropped = 0; dropped < row.count && !(of_processor && row.count == 1); ++dropped) {
    add(fmt::format("without action {}", dropped + 1), without_action(row, dropped));
  }
  Row deleted = row;
  deleted.impossible = true;
  add("deleted", deleted);
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
  (of_cache ? protocol.cache : protocol.memory).rows[place] = row;
  return protocol;
}

std::vector<Mutant> mutants_of(const Protocol& good) {
  std::vector<Mutant> mutants;
  for (std::size_t i = 0; i < good.cache.rows.size(); ++i) add_mutants_of_row(good.cache, true, i, mutants);
  for (std::size_t i = 0; i < good.memory.rows.size(); ++i) add_mutants_of_row(good.memory, false, i, mutants);
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
