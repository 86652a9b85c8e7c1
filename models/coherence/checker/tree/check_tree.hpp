// The model checker for groups: a home's directory, groups, and caches as their members. It runs the same functions of
// group_order.hpp and network_order.hpp as the simulator. As in check_network.hpp there is one line, two values and no time.
// The home's network and the inside of each group are separate networks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/coherence/checker/network/check_network.hpp"
#include "models/coherence/group_order.hpp"

namespace linebounce {

constexpr int kMaxCheckedGroups = 3;
constexpr int kMaxCheckedMembers = 3;

struct TreeProtocols {
  Protocol group, directory;  // the directory's file also has the caches' table
};

struct TreeCheckOptions {
  int groups = 2;
  int members = 2;       // caches in each group
  int last_members = 0;  // caches in the last group; 0: as many as in the others
  bool symmetry = true;  // states that differ only by renaming groups, caches or values count once
  std::size_t memory_limit_mib = 4096;
  [[nodiscard]] int members_of(int group) const { return group == groups - 1 && last_members > 0 ? last_members : members; }
};

enum class TreeStepKind : std::uint8_t { load, store, evict, give_up, give_up_entry, arrive };

// A message under way on the home's network (0), or inside group `network` - 1. `to` is a group or a cache, or kMemory for the
// directory or the group itself.
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

// The steps of a violation as a list for the terminal, with the states after each.
std::string tree_steps_text(const TreeProtocols& protocols, const TreeCheckOptions& options,
                            const CheckViolation<TreeStep>& violation);

// The systems to check by default: a race of three groups, and groups of two members.
std::vector<TreeCheckOptions> default_trees();
// For rows that the default systems never run: a member requests the line while two others read it and another group writes.
TreeCheckOptions tree_of_three_and_one();

}  // namespace linebounce
