// The parts that all Murphi models share: names, rows, and the accesses and properties of caches.
//
// In a model, each controller is a record with the fields of the checker's ControllerWorld: "home", "agents[a]" or
// "agents[a].caches[c]". Agents and caches are numbered from 1, and 0 stands for nobody. `w` is the value that a store writes.
#pragma once

#include <fmt/ranges.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce::checker {

// Makes a Murphi name from the prefix `kind` and a name in a protocol's table. `number` keeps names apart that differ only in
// characters that Murphi does not allow.
std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number);

// A parameter, an index, or the variable of a loop.
struct MurphiVariable {
  std::string name, type;
};
using MurphiVariables = std::vector<MurphiVariable>;
std::string declared(const MurphiVariables& variables);  // "a: aid; c: cid"
std::string listed(const MurphiVariables& variables);    // "a, c"
std::string indexes(const MurphiVariables& variables);   // "[a][c]"
// "for all a and c": a condition.
std::string for_all(const MurphiVariables& variables, std::string condition);

// A controller of the model.
struct MurphiController {
  std::string at;         // the controller's record: "agents[a].caches[c]"
  std::string_view kind;  // the prefix of the names of its states: "C" for a cache, "A" for an agent, "H" for the home
  const ControllerTable* table;
  MurphiVariables selected_by;   // the variables that select the controller: "a" and "c"
  std::string members = "none";  // directory, group: the type of its members' numbers

  [[nodiscard]] std::string state(std::size_t state) const { return murphi_name(kind, table->states[state].name, state); }
  // All names of states, separated by commas.
  [[nodiscard]] std::string states() const;
  // Returns a condition such as "(x.state = A | x.state = B)": the controller is in one of the states for which `where` holds.
  template <class Where>
  [[nodiscard]] std::string is(Where where) const {
    std::vector<std::string> tests;
    for (std::size_t s = 0; s < table->states.size(); ++s) {
      if (where(s)) tests.push_back(fmt::format("{}.state = {}", at, state(s)));
    }
    return tests.empty() ? "false" : fmt::format("({})", fmt::join(tests, " | "));
  }
  // As is(), by a flag of StateInfo.
  [[nodiscard]] std::string is(bool StateInfo::*flag) const {
    return is([&](std::size_t s) { return table->states[s].*flag; });
  }
};

class MurphiWriter {
 public:
  // `after_step` is what every rule calls after the step: "clean(); ", or nothing.
  explicit MurphiWriter(std::string after_step) : after_step_(std::move(after_step)) {}

  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // Writes a rule whose step is one call.
  void rule(int depth, std::string_view title, std::string_view condition, std::string_view call);

  // Writes the rows of all states for one base event. If the event has a guard, the model tests it to choose the row.
  // actions(depth, row) writes what a possible row does besides changing the state.
  template <class Actions>
  void rows(int depth, const MurphiController& of, std::size_t base_event, Actions actions) {
    const BaseEvent& event = of.table->base_events[base_event];
    line(depth, "switch {}.state", of.at);
    for (std::size_t state = 0; state < of.table->states.size(); ++state) {
      line(depth, "case {}:", of.state(state));
      for (int word = 0; word < event.count; ++word) {
        const Row& row = of.table->row(static_cast<StateId>(state), static_cast<EventId>(event.first + word));
        const int inside = event.count > 1 ? depth + 2 : depth + 1;
        if (word + 1 < event.count) line(depth + 1, "{} {} then", word == 0 ? "if" : "elsif", guard(event.guard, word, of));
        if (word > 0 && word + 1 == event.count) line(depth + 1, "else");
        if (row.impossible) {
          line(inside, "error \"impossible: {}\";", of.table->place(row.source_line));
          continue;
        }
        if (row.next != state) line(inside, "{}.state := {};", of.at, of.state(row.next));
        actions(inside, row);
      }
      if (event.count > 1) line(depth + 1, "end;");
    }
    line(depth, "end;");
  }

  // Returns the Murphi condition for qualifier number `word` of the guard group.
  [[nodiscard]] static std::string guard(GuardGroup group, int word, const MurphiController& of);

  // Writes the procedures that read and write a cache's copy and that complete an access. They assert the properties that
  // `subject` claims. `atomic` is the base event of an atomic operation, or kStore if the table has no Atomic event.
  void use_procedures(const Protocol& subject, const MurphiController& cache, std::size_t atomic);
  // Writes the procedure of a processor's access. actions(depth, row): as for rows(). If waits(row), the access waits.
  template <class Actions, class Waits>
  void access_procedure(const MurphiController& cache, std::size_t event, Actions actions, Waits waits) {
    const std::string& name = cache.table->base_events[event].name;
    line(0, "procedure do_{}({}; w: val); begin", name, declared(cache.selected_by));
    rows(1, cache, event, [&](int depth, const Row& row) {
      actions(depth, row);
      if (row.does(Verb::hit)) line(depth, "use({}, {}, w);", listed(cache.selected_by), event != kLoad);
      if (event == kEvict || row.does(Verb::hit) || !waits(row)) return;
      line(depth, "assert {0}.access = W_none \"two accesses that wait\"; {0}.access := W_{1};", cache.at, name);
    });
    line(0, "end;\n");
  }
  void access_rules(const MurphiController& cache, std::size_t atomic);

  // Writes the invariants of the caches. `other` is `one` with other variables. `accounted` is what holds of every cache.
  void cache_invariants(const Protocol& subject, const MurphiController& one, const MurphiController& other,
                        const std::string& accounted);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const std::string after_step_;
  std::string text_;
};

// Loads, stores, evictions and, if `atomic` is one, atomic operations.
std::vector<std::size_t> accesses(std::size_t atomic);

}  // namespace linebounce::checker
