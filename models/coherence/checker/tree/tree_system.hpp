// The directory, groups and caches that are checked together, a state of this system, and the state's encoding.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "models/coherence/checker/network/system.hpp"
#include "models/coherence/checker/tree/check_tree.hpp"
#include "models/coherence/checker/world.hpp"

namespace linebounce::checker {

constexpr std::size_t kTreeWords = 28;

struct TreeCache {
  ControllerEntry entry;
  std::uint8_t data = 0;  // the copy's value, 0 or 1
  Waiting access = Waiting::nothing;
};

struct TreeGroup {
  ControllerEntry entry;
  std::uint8_t data = 0;
  std::array<TreeCache, kMaxCheckedMembers> caches{};
};

struct TreeWorld {
  std::array<TreeGroup, kMaxCheckedGroups> groups{};
  ControllerEntry directory;
  std::uint8_t memory_data = 0;
  std::uint8_t latest = 0;  // used only by the property checks: the value written last
  // The messages under way. Forwards to the same receiver on the same network are in the order in which they were sent.
  std::array<TreeMessage, kTreeWords> messages{};
  std::size_t message_count = 0;

  [[nodiscard]] TreeGroup& group(int number) { return groups[number]; }
  [[nodiscard]] const TreeGroup& group(int number) const { return groups[number]; }
  [[nodiscard]] TreeCache& cache(int number, int member) { return group(number).caches[member]; }
  [[nodiscard]] const TreeCache& cache(int number, int member) const { return group(number).caches[member]; }
};

struct TreeKey {
  std::array<std::uint64_t, kTreeWords / 4> words{};
  // The return type is not `auto`, because std::array lacks <=> in older standard libraries.
  friend std::strong_ordering operator<=>(const TreeKey&, const TreeKey&) = default;
};

// A renaming of groups and members. groups[i] is the old number of the group that becomes group i. members[g] says the same for
// the members of the group whose old number is g.
struct TreeNames {
  std::array<int, kMaxCheckedGroups> groups{0, 1, 2};
  std::array<std::array<int, kMaxCheckedMembers>, kMaxCheckedGroups> members{{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}};
};

class TreeSystem {
 public:
  TreeSystem(const TreeProtocols& tables, const TreeCheckOptions& options);

  const TreeProtocols& protocols;
  const TreeCheckOptions size;
  const int groups, members;
  [[nodiscard]] int members_of(int number) const { return size.members_of(number); }
  const NetworkProtocols alone;  // the directory's protocol, to which `flat` refers
  const CheckedSystem flat;      // the tables of caches and directory, as in a system without groups
  const ControllerTable& group;
  const ControllerRules group_rules;

  [[nodiscard]] const ControllerTable& cache() const { return protocols.directory.cache; }
  [[nodiscard]] const ControllerTable& directory() const { return protocols.directory.directory; }
  [[nodiscard]] const std::vector<Message>& messages() const { return protocols.directory.messages; }
  [[nodiscard]] bool is_forward(MessageId message) const { return messages()[message].message_class == MessageClass::forward; }
  // Which parts of the message its receiver's rows read.
  [[nodiscard]] const MessageUse& use(const TreeMessage& message) const;

  std::vector<MessageUse> from_members, from_outside;  // by message: the parts that a group reads
  Live group_data, group_member, group_requestor, group_owner, group_sharers;
  std::vector<TreeNames> renamings;  // all possible renamings; the first one changes nothing

  // Clears variables that no row will read before they are set again. Must be called after every step.
  void clear_dead_variables(TreeWorld& world) const;
  // REQUIRES: clear_dead_variables() was called after the last step. Errors: CheckTooLarge.
  [[nodiscard]] TreeKey pack(const TreeWorld& world, const TreeNames& names) const;
  [[nodiscard]] TreeWorld unpack(const TreeKey& key) const;
  // Returns the same key for all states that differ only in the names of groups, of a group's caches, or of values. REQUIRES
  // and Errors: as for pack().
  [[nodiscard]] TreeKey canonical(TreeWorld world) const;
};

}  // namespace linebounce::checker
