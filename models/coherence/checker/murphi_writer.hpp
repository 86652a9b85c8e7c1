// The parts that all Murphi models share: names, rows, and the accesses and properties of caches.
//
// In a model, each controller is a record with the fields of the checker's ControllerWorld: "home", "agents[a]" or
// "agents[a].caches[c]". Agents and caches are numbered from 1, and 0 stands for nobody. `w` is the value that a store writes.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce::checker {

// Makes a Murphi name from the prefix `kind` and a name in a protocol's table. `number` distinguishes names that differ only
// in characters that Murphi does not allow.
std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number);

// A parameter, an index, or the variable of a loop.
struct MurphiVariable {
  std::string name, type;
};
using MurphiVariables = std::vector<MurphiVariable>;
std::string declared(const MurphiVariables& variables);  // "a: aid; c: cid"
std::string listed(const MurphiVariables& variables);    // "a, c"
std::string indexes(const MurphiVariables& variables);   // "[a][c]"
// Returns the condition that `condition` holds for all values of the variables.
std::string for_all(const MurphiVariables& variables, std::string condition);

// A controller of the model. `a` and `c` in its record's name are parameters of the procedure that is being written.
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
  // Returns the condition that the controller's state has the flag.
  [[nodiscard]] std::string is(bool StateInfo::*flag) const {
    return is([&](std::size_t s) { return table->states[s].*flag; });
  }
};

// The model with its procedures between the declarations and the rules, as Murphi's grammar has it; rumur takes any order.
std::string procedures_before_rules(std::string_view model);

// The events of a processor's accesses: loads, stores, evictions and, if `atomic` is another event than kStore, atomic
// operations.
std::vector<std::size_t> accesses(std::size_t atomic);

class MurphiWriter {
 public:
  // `after_step`: the call with which every rule ends, "clean(); ", or nothing.
  explicit MurphiWriter(std::string after_step) : after_step_(std::move(after_step)) {}

  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // Writes a rule whose step is one call.
  void rule(int depth, std::string_view title, std::string_view condition, std::string_view call);

  // Writes the rows of all states for one base event as a "switch", in which states with equal rows share a case. If the event
  // has a guard, the model tests it to choose the row. actions(depth, row) writes what a row does besides changing the state.
  template <class Actions>
  void rows(int depth, const MurphiController& of, std::size_t base_event, Actions actions) {
    const BaseEvent& event = of.table->base_events[base_event];
    std::vector<std::pair<std::string, std::string>> cases;  // states and statements
    for (std::size_t state = 0; state < of.table->states.size(); ++state) {
      std::vector<std::string> words;
      for (int word = 0; word < event.count; ++word) {
        const Row& row = of.table->row(static_cast<StateId>(state), static_cast<EventId>(event.first + word));
        words.push_back(captured([&] {
          if (row.impossible) return line(depth + 2, "error \"impossible: {}\";", of.table->place(row.source_line));
          if (row.next != state) line(depth + 2, "{}.state := {};", of.at, of.state(row.next));
          actions(depth + 2, row);
        }));
      }
      std::string statements = captured([&] { by_guard(depth + 1, words, event.guard, of); });
      const auto same = std::find_if(cases.begin(), cases.end(), [&](const auto& other) { return other.second == statements; });
      if (same == cases.end()) {
        cases.emplace_back(of.state(state), std::move(statements));
      } else {
        same->first += ", " + of.state(state);
      }
    }
    line(depth, "switch {}.state", of.at);
    for (const auto& [states, statements] : cases) {
      line(depth, "case {}:", states);
      text_ += statements;
    }
    line(depth, "end;");
  }

  // Returns the Murphi condition for qualifier number `word` of the guard group.
  [[nodiscard]] static std::string guard(GuardGroup group, int word, const MurphiController& of);

  // Writes the procedures of a processor's accesses, and the one that completes an access that waits. They assert the
  // properties that `subject` claims. `atomic` is the base event of an atomic operation, or kStore if the table has no Atomic
  // event. actions(depth, row): as for rows(). An access that does not hit waits if waits(row). `may_issue`: a completed access
  // may issue another message instead of hitting.
  template <class Actions, class Waits>
  void access_procedures(const Protocol& subject, const MurphiController& cache, std::size_t atomic, Actions actions,
                         Waits waits, bool may_issue = false) {
    use_procedure(subject, cache);
    for (const std::size_t event : accesses(atomic)) {
      const std::string& name = cache.table->base_events[event].name;
      line(0, "procedure do_{}({}; w: val); begin", name, declared(cache.selected_by));
      rows(1, cache, event, [&](int depth, const Row& row) {
        actions(depth, row);
        if (row.does(Verb::hit)) return line(depth, "use({}, {}, w);", listed(cache.selected_by), event != kLoad);
        if (event == kEvict || !waits(row)) return;
        line(depth, "assert {0}.access = W_none \"two accesses that wait\"; {0}.access := W_{1};", cache.at, name);
      });
      line(0, "end;\n");
    }
    complete_procedure(cache, atomic, may_issue);
  }
  // `then`: a procedure that each access calls at its end, or nothing.
  void access_rules(const MurphiController& cache, std::size_t atomic, std::string_view then = {});

  // Writes the invariants of the caches. `one` and `other`: two of the caches, selected by different variables. `accounted`:
  // a condition that every cache must fulfil.
  void cache_invariants(const Protocol& subject, const MurphiController& one, const MurphiController& other,
                        const std::string& accounted);

  // Returns the lines that `write` writes, instead of adding them to the model.
  template <class Write>
  [[nodiscard]] std::string captured(Write write) {
    std::string before = std::exchange(text_, {});
    write();
    return std::exchange(text_, std::move(before));
  }
  void add(const std::string& lines) { text_ += lines; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void use_procedure(const Protocol& subject, const MurphiController& cache);
  void complete_procedure(const MurphiController& cache, std::size_t atomic, bool may_issue);
  // Writes `words`, the statements for each qualifier of an event. If they differ, the model chooses among them with an `if`.
  void by_guard(int depth, const std::vector<std::string>& words, GuardGroup group, const MurphiController& of);

  const std::string after_step_;
  std::string text_;
};

}  // namespace linebounce::checker
