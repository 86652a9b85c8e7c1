// The model checker for groups: a home's directory, groups, and caches as their members. It runs the very functions of
// group_order.hpp and network_order.hpp that the simulator runs. One line, two values, no time, as in check_network.hpp; what
// is under way on the network of the homes and inside each group are networks of their own.
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
  Protocol group, directory;  // the directory's file has a table of caches, too
};

struct TreeCheckOptions {
  int groups = 2;
  int members = 2;       // caches of each group
  int last_members = 0;  // of the last group, if it has fewer; 0: as many as the others
  bool symmetry = true;  // states that differ only in which group, cache or value is which count once
  std::size_t memory_limit_mib = 4096;
  [[nodiscard]] int members_of(int group) const { return group == groups - 1 && last_members > 0 ? last_members : members; }
};

enum class TreeStepKind : std::uint8_t { load, store, evict, give_up, give_up_entry, arrive };

// Under way on the homes' network (0), or inside group `network` - 1. `to`: a group or a cache, kMemory for the directory or
// the group itself.
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

// The steps of a violation as a list for the terminal: what happened, and the states after it.
std::string tree_steps_text(const TreeProtocols& protocols, const TreeCheckOptions& options,
                            const CheckViolation<TreeStep>& violation);

// What is checked unless a user says otherwise: the race of three groups, and groups of two members.
std::vector<TreeCheckOptions> default_trees();
// For rows that none of them runs: one member asks while two others read, and somebody outside writes.
TreeCheckOptions tree_of_three_and_one();

}  // namespace linebounce
