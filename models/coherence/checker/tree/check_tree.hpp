// The model checker for a tree: a home with a directory, groups below the home, and caches as the members of each group. It
// runs the same functions of controller_step.hpp and network_order.hpp as the simulator. As in check_network.hpp there is one
// line, two values and no time. The home and the groups share one network; the inside of each group is a separate network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/controller_step.hpp"

namespace linebounce {

constexpr int kMaxCheckedGroups = 3;
constexpr int kMaxCheckedMembers = 3;

struct TreeProtocols {
  Protocol group, directory;  // `directory` also has the caches' table
};

struct TreeCheckOptions {
  int groups = 2;
  int members = 2;       // the number of caches in each group
  int last_members = 0;  // the number of caches in the last group; 0 for as many as in the others
  bool symmetry = true;  // true: states that differ only in the names of groups, caches or values count as one
  std::size_t memory_limit_mib = 4096;
  [[nodiscard]] int members_of(int group) const { return group == groups - 1 && last_members > 0 ? last_members : members; }
};

enum class TreeStepKind : std::uint8_t { load, store, evict, give_up, give_up_entry, arrive };

// A message under way. `network` is 0 for the home's network, and n + 1 for the inside of group n. `to` is the receiver: on the
// home's network a group, or kMemory for the directory; inside a group a cache, or kMemory for the group itself.
struct TreeMessage {
  NetworkMessage message;
  int network = 0;
  int to = kNobody;
  std::uint8_t data = 0;
  friend bool operator==(const TreeMessage&, const TreeMessage&) = default;
};

struct TreeStep {
  TreeStepKind kind{};
  int group = 0;
  int cache = 0;
  std::uint8_t value = 0;
  TreeMessage arrives{};
};

using TreeCheckResult = SearchResult<TreeStep>;

// REQUIRES: 1 <= groups <= kMaxCheckedGroups; 1 <= members <= kMaxCheckedMembers; last_members <= members.
// Errors: CheckTooLarge.
TreeCheckResult check_tree(const TreeProtocols& protocols, const TreeCheckOptions& options);

// Returns a list of the violation's steps for the terminal, with the controllers' states after each step.
std::string tree_steps_text(const TreeProtocols& protocols, const TreeCheckOptions& options,
                            const CheckViolation<TreeStep>& violation);

// The systems to check by default: one with three groups, which can race, and one with two members in each group.
std::vector<TreeCheckOptions> default_trees();
// A system for the rows that the default systems never run. In these rows a member requests the line while two other members
// read it and another group writes it.
TreeCheckOptions tree_of_three_and_one();

}  // namespace linebounce
