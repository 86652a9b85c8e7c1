// The parts that the writers of Murphi models for buses and networks share: lines, names, and the caches on a bus.
#pragma once

#include <fmt/ranges.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "models/coherence/protocol.hpp"

namespace linebounce::checker {

inline constexpr std::string_view kCacheState = "C", kRequest = "R";  // prefixes of the names of cache states and requests

// Makes a Murphi name from the prefix `kind` and a name in a protocol's table. `number` keeps names apart that differ only in
// characters that Murphi does not allow.
std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number);
inline std::string state_name(std::string_view kind, const ControllerTable& table, std::size_t state) {
  return murphi_name(kind, table.states[state].name, state);
}
std::string state_names(std::string_view kind, const ControllerTable& table);
inline std::string request_name(const Protocol& bus, std::size_t message) {
  return murphi_name(kRequest, bus.messages[message].name, message);
}

// Returns a Murphi condition such as "(x = A | x = B)": `variable` is one of the states for which `where` holds.
template <class Where>
std::string one_of(std::string_view variable, std::string_view kind, const ControllerTable& table, Where where) {
  std::string tests;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    if (where(state)) tests += fmt::format("{}{} = {}", tests.empty() ? "" : " | ", variable, state_name(kind, table, state));
  }
  return tests.empty() ? "false" : "(" + tests + ")";
}

// The Murphi expressions that refer to one cache.
struct MurphiCache {
  std::string parameters;          // the parameters that select the cache: "a: aid; c: cid"
  std::string who;                 // the arguments for these parameters: "a, c"
  std::string state, data, waits;  // the cache's variables: "cs[a][c]"
  std::string bus{};               // the value on the cache's data bus: "bd[a]"; empty without a bus
  std::string_view kind = kCacheState;
};

// The names that a Murphi model uses for a cache's accesses.
struct MurphiAccess {
  std::string_view procedure;  // the procedure that completes an access
  char kind;                   // the prefix of the accesses' names: 'A' for "A_Load"
  std::string_view waited;     // the variable for the access that is completed
  char value;                  // the parameter for the value that a store writes
};

class MurphiWriter {
 public:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // Writes a "switch" over a table's states; `one_case` writes the statements of one case.
  template <class OneCase>
  void each_state(int depth, std::string_view variable, std::string_view kind, const ControllerTable& table, OneCase one_case) {
    line(depth, "switch {}", variable);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      line(depth, "case {}:", state_name(kind, table, state));
      one_case(static_cast<StateId>(state));
    }
    line(depth, "end;");
  }

  // Writes the procedures that read and write a copy and that complete an access. They assert the properties that `subject`
  // claims. `atomic` is the base event of an atomic operation, or kStore if the table has no Atomic event.
  void use_procedures(const Protocol& subject, const ControllerTable& table, std::size_t atomic, const MurphiCache& cache,
                      const MurphiAccess& access);

  // Writes the procedure that runs a cache's atomic operation on memory's data.
  void operate_procedure(const Protocol& subject, const MurphiCache& cache, const MurphiAccess& access,
                         std::string_view memory_data);

  // Writes one action of a cache on a bus. Writes nothing for `hit` and `stall`, which only accesses have.
  void bus_cache_action(int depth, Action action, const Protocol& bus, const MurphiCache& cache, const MurphiAccess& access);
  // Writes statements that record where a sender's data goes: to memory, to the requestor, or to both.
  void supplies(int depth, Action action);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace linebounce::checker
