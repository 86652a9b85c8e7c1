// Writes rows as Murphi statements. Each `error` or `assert` statement corresponds to an exception in check_network().
#pragma once

#include <string>

#include "models/coherence/checker/murphi_writer.hpp"
#include "models/coherence/checker/network/system.hpp"

namespace linebounce::checker {

// Prefixes of names in the Murphi model.
inline constexpr std::string_view kAgentState = "A", kHomeState = "H", kRecall = "T", kToHome = "home", kToAgent = "net",
                                  kForward = "F";

inline constexpr MurphiAccess kMurphiAccess = {"complete_access", 'W', "waited", 'w'};

// The Murphi expressions for a cache on the bus of node `a`. `name` is the Murphi variable that holds the cache's number.
inline MurphiCache cache_of_node(const std::string& name) {
  const std::string at = "[a][" + name + "]";
  return {"a: aid; " + name + ": cid", "a, " + name, "cs" + at, "cd" + at, "cw" + at, "bd[a]"};
}

// The Murphi variable for the data that the caches put on the bus in a recall.
inline constexpr std::string_view kOnBus = "hand";

// The Murphi expressions that refer to the controller whose rows are being written.
struct MurphiPlace {
  enum class Role : std::uint8_t { agent, home, bus_cache, bus_memory } role;
  std::string state;            // the controller's state: "as[a]"
  std::string requestor = "r";  // the requestor: "r" of the arriving message, or the saved "ar[a]"
  std::string data = "v";       // the value that `take data` and `update memory` store
  std::string cache{};          // for a bus cache: its number; for a node: the requesting cache's number
};

class MurphiRows {
 public:
  MurphiRows(const CheckedSystem& system, MurphiWriter& out) : system_(system), out_(out) {}

  // Writes the rows of all states for one base event. If the event has a guard, the model tests it to choose the row.
  void at(int depth, const ControllerTable& table, std::size_t base_event, const MurphiPlace& place);

  [[nodiscard]] static std::string_view state_kind(MurphiPlace::Role role);

 private:
  void row(int depth, const ControllerTable& table, std::size_t state, const Row& row, const MurphiPlace& place);
  void action(int depth, Action action, const Row& row, const MurphiPlace& place);
  void agent_action(int depth, Action action, const MurphiPlace& place);
  void home_action(int depth, Action action, const Row& row, const MurphiPlace& place);
  void memory_action(int depth, Action action, const MurphiPlace& place);
  // Returns the Murphi condition for qualifier number `word` of the guard group.
  [[nodiscard]] static std::string guard(GuardGroup group, int word);

  const CheckedSystem& system_;
  MurphiWriter& out_;
};

}  // namespace linebounce::checker
