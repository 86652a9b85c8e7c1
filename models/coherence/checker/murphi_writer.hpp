// What the Murphi models of a bus and of a network have in common: their lines, their names, and the caches of a bus.
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

// Names may hold anything but spaces and commas in a table; the number keeps them apart.
std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number);
inline std::string state_name(std::string_view kind, const ControllerTable& table, std::size_t state) {
  return murphi_name(kind, table.states[state].name, state);
}
std::string state_names(std::string_view kind, const ControllerTable& table);
inline std::string request_name(const Protocol& bus, std::size_t message) {
  return murphi_name(kRequest, bus.messages[message].name, message);
}

// "x = A | x = B": x is in one of the states for which `where` holds.
template <class Where>
std::string one_of(std::string_view variable, std::string_view kind, const ControllerTable& table, Where where) {
  std::string tests;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    if (where(state)) tests += fmt::format("{}{} = {}", tests.empty() ? "" : " | ", variable, state_name(kind, table, state));
  }
  return tests.empty() ? "false" : "(" + tests + ")";
}

// How a model names a cache, in Murphi's words.
struct MurphiCache {
  std::string parameters;          // "a: aid; c: cid"
  std::string who;                 // "a, c"
  std::string state, data, waits;  // "cs[a][c]"
  std::string bus{};               // "bd[a]"; nothing where there is none
  std::string_view kind = kCacheState;
};

// The words of a model for an access.
struct MurphiAccess {
  std::string_view procedure;  // that completes one
  char kind;                   // before "_Load"
  std::string_view waited;     // the access that has waited
  char value;                  // that a store writes
};

class MurphiWriter {
 public:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // "switch" over the states of a table, with what `one_case` writes for each.
  template <class OneCase>
  void each_state(int depth, std::string_view variable, std::string_view kind, const ControllerTable& table, OneCase one_case) {
    line(depth, "switch {}", variable);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      line(depth, "case {}:", state_name(kind, table, state));
      one_case(static_cast<StateId>(state));
    }
    line(depth, "end;");
  }

  // A copy is read or written, and an access that waited completes. `subject`'s properties; `atomic`: the base event of an
  // atomic operation, kStore where it is none of its own.
  void use_procedures(const Protocol& subject, const ControllerTable& table, std::size_t atomic, const MurphiCache& cache,
                      const MurphiAccess& access);

  // The atomic operation of a cache runs at memory, whose data this is.
  void operate_procedure(const Protocol& subject, const MurphiCache& cache, const MurphiAccess& access,
                         std::string_view memory_data);

  // What a cache on a bus does; not the accesses that hit or stall.
  void bus_cache_action(int depth, Action action, const Protocol& bus, const MurphiCache& cache, const MurphiAccess& access);
  // What a sender's data is for.
  void supplies(int depth, Action action);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace linebounce::checker
