// Shared by the Murphi models of buses and networks: lines, names, and the caches of a bus.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "models/coherence/protocol.hpp"

namespace linebounce::checker {

inline constexpr std::string_view kCacheState = "C", kRequest = "R";  // prefixes of names

// A Murphi name for a name of a table. The number keeps names apart that differ only in characters illegal in Murphi.
std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number);
inline std::string state_name(std::string_view kind, const ControllerTable& table, std::size_t state) {
  return murphi_name(kind, table.states[state].name, state);
}
std::string state_names(std::string_view kind, const ControllerTable& table);
inline std::string request_name(const Protocol& bus, std::size_t message) {
  return murphi_name(kRequest, bus.messages[message].name, message);
}

// A condition "x = A | x = B": x is one of the states for which `where` holds.
template <class Where>
std::string one_of(std::string_view variable, std::string_view kind, const ControllerTable& table, Where where) {
  std::string tests;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    if (where(state)) tests += fmt::format("{}{} = {}", tests.empty() ? "" : " | ", variable, state_name(kind, table, state));
  }
  return tests.empty() ? "false" : "(" + tests + ")";
}

// The Murphi expressions for a cache.
struct MurphiCache {
  std::string parameters;          // "a: aid; c: cid"
  std::string who;                 // "a, c"
  std::string state, data, waits;  // "cs[a][c]"
  std::string bus{};               // "bd[a]"; empty without a bus
  std::string_view kind = kCacheState;
};

// The Murphi names for an access.
struct MurphiAccess {
  std::string_view procedure;  // completes an access
  char kind;                   // the prefix of "_Load"
  std::string_view waited;     // the pending access
  char value;                  // the value that a store writes
};

class MurphiWriter {
 public:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // A "switch" over a table's states; `one_case` writes each case.
  template <class OneCase>
  void each_state(int depth, std::string_view variable, std::string_view kind, const ControllerTable& table, OneCase one_case) {
    line(depth, "switch {}", variable);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      line(depth, "case {}:", state_name(kind, table, state));
      one_case(static_cast<StateId>(state));
    }
    line(depth, "end;");
  }

  // The procedures that read and write a copy and complete an access, with the properties of `subject`. `atomic`: the base
  // event of an atomic operation; kStore if the table has no Atomic.
  void use_procedures(const Protocol& subject, const ControllerTable& table, std::size_t atomic, const MurphiCache& cache,
                      const MurphiAccess& access);

  // The procedure that runs a cache's atomic at memory, on its data.
  void operate_procedure(const Protocol& subject, const MurphiCache& cache, const MurphiAccess& access,
                         std::string_view memory_data);

  // An action of a cache on a bus; accesses that hit or stall are written elsewhere.
  void bus_cache_action(int depth, Action action, const Protocol& bus, const MurphiCache& cache, const MurphiAccess& access);
  // Notes the destinations of a sender's data.
  void supplies(int depth, Action action);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace linebounce::checker
