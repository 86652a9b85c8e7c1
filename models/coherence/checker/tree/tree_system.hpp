// The directory, groups and caches checked together, a state of the system, and its encoding.
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
  AgentEntry entry;
  std::uint8_t data = 0;  // one bit
  Waiting access = Waiting::nothing;
};

struct TreeGroup {
  GroupEntry entry;
  std::uint8_t data = 0;
  std::array<TreeCache, kMaxCheckedMembers> caches{};
};

struct TreeWorld {
  std::array<TreeGroup, kMaxCheckedGroups> groups{};
  DirectoryEntry directory;
  std::uint8_t memory_data = 0;
  std::uint8_t latest = 0;  // ghost: the value of the last store
  // Messages under way. Forwards on one network to one receiver are in the order of sending.
  std::array<TreeMessage, kTreeWords> messages{};
  std::size_t message_count = 0;

  [[nodiscard]] TreeGroup& group(int number) { return groups[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const TreeGroup& group(int number) const { return groups[static_cast<std::size_t>(number)]; }
  [[nodiscard]] TreeCache& cache(int number, int member) { return group(number).caches[static_cast<std::size_t>(member)]; }
  [[nodiscard]] const TreeCache& cache(int number, int member) const {
    return group(number).caches[static_cast<std::size_t>(member)];
  }
};

struct TreeKey {
  std::array<std::uint64_t, kTreeWords / 4> words{};
  // Not auto, because older standard libraries' arrays lack <=>.
  friend std::strong_ordering operator<=>(const TreeKey&, const TreeKey&) = default;
};

// A renaming: old numbers in the order of the new ones.
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
  const NetworkProtocols alone;  // referred to by `flat`
  const CheckedSystem flat;      // the directory's file, with its tables of caches and directory
  const ControllerTable& group;

  [[nodiscard]] const ControllerTable& cache() const { return protocols.directory.cache; }
  [[nodiscard]] const ControllerTable& directory() const { return protocols.directory.directory; }
  [[nodiscard]] const std::vector<Message>& messages() const { return protocols.directory.messages; }
  [[nodiscard]] bool is_forward(MessageId message) const { return messages()[message].message_class == MessageClass::forward; }
  // The parts of the message that its receiver's rows read.
  [[nodiscard]] const MessageUse& use(const TreeMessage& message) const;

  std::vector<MessageUse> from_members, from_outside;  // of messages to a group
  Live group_data, group_member, group_requestor, group_owner, group_sharers;
  std::vector<TreeNames> renamings;  // all of them, the identity first

  // Clears variables that no row will read. REQUIRES: called after every step.
  void clear_dead_variables(TreeWorld& world) const;
  // REQUIRES: clear_dead_variables() was called. Errors: CheckTooLarge.
  [[nodiscard]] TreeKey pack(const TreeWorld& world, const TreeNames& names) const;
  [[nodiscard]] TreeWorld unpack(const TreeKey& key) const;
  // A canonical key under renaming of groups, of a group's caches, and of values.
  [[nodiscard]] TreeKey canonical(TreeWorld world) const;
};

}  // namespace linebounce::checker
