// Writes rows as Murphi statements. Each `error` or `assert` corresponds to an exception in check_network().
#pragma once

#include <string>

#include "models/coherence/checker/murphi_writer.hpp"
#include "models/coherence/checker/network/system.hpp"

namespace linebounce::checker {

// Prefixes of names in a model.
inline constexpr std::string_view kAgentState = "A", kHomeState = "H", kRecall = "T", kToHome = "home", kToAgent = "net",
                                  kForward = "F";

inline constexpr MurphiAccess kMurphiAccess = {"complete_access", 'W', "waited", 'w'};

// A cache on the bus of node a.
inline MurphiCache cache_of_node(const std::string& name) {
  const std::string at = "[a][" + name + "]";
  return {"a: aid; " + name + ": cid", "a, " + name, "cs" + at, "cd" + at, "cw" + at, "bd[a]"};
}

// The data that a recall brought.
inline constexpr std::string_view kOnBus = "hand";

// The Murphi expressions for the controller whose rows are written.
struct MurphiPlace {
  enum class Role : std::uint8_t { agent, home, bus_cache, bus_memory } role;
  std::string state;            // "as[a]"
  std::string requestor = "r";  // "r" of the message in hand, or "ar[a]"
  std::string data = "v";       // the data of `take data` and `update memory`
  std::string cache{};          // on a bus: "k"; at a node: the transaction's cache
};

class MurphiRows {
 public:
  MurphiRows(const CheckedSystem& system, MurphiWriter& out) : system_(system), out_(out) {}

  // Writes the rows of all states at one base event. Guards choose between the rows of a guarded event.
  void at(int depth, const ControllerTable& table, std::size_t base_event, const MurphiPlace& place);

  [[nodiscard]] static std::string_view state_kind(MurphiPlace::Role role);

 private:
  void row(int depth, const ControllerTable& table, std::size_t state, const Row& row, const MurphiPlace& place);
  void action(int depth, Action action, const Row& row, const MurphiPlace& place);
  void agent_action(int depth, Action action, const MurphiPlace& place);
  void home_action(int depth, Action action, const Row& row, const MurphiPlace& place);
  void memory_action(int depth, Action action, const MurphiPlace& place);
  // The condition for the guard's qualifier number `word`.
  [[nodiscard]] static std::string guard(GuardGroup group, int word);

  const CheckedSystem& system_;
  MurphiWriter& out_;
};

}  // namespace linebounce::checker
