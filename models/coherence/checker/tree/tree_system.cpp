#include "models/coherence/checker/tree/tree_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace linebounce::checker {
namespace {

constexpr int kNobodyInTree = 3;  // encodes kNobody in two bits

int tree_bits(int number) {
  return number < 0 || number >= kNobodyInTree ? kNobodyInTree : number;
}
std::int8_t tree_number(int bits) {
  return static_cast<std::int8_t>(bits == kNobodyInTree ? kNobody : bits);
}

enum class Does : std::uint8_t { nothing, uses, sets };

// Derives from a group's rows in which states a variable is live.
class GroupLive {
 public:
  GroupLive(const ControllerTable& table, std::size_t messages) : table_(table), messages_(messages) {}

  template <class FirstEffect>
  [[nodiscard]] Live states(FirstEffect effect, std::initializer_list<GuardGroup> guards = {}) const {
    Live live(table_.states.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t state = 0; state < live.size(); ++state) {
        for (std::size_t base = 0; base < table_.base_events.size() && !live[state]; ++base) {
          if (!at(state, base, live, effect, guards)) continue;
          live[state] = changed = true;
        }
      }
    }
    return live;
  }

 private:
  template <class FirstEffect>
  [[nodiscard]] bool at(std::size_t state, std::size_t base, const Live& live, FirstEffect effect,
                        std::initializer_list<GuardGroup> guards) const {
    const BaseEvent& event = table_.base_events[base];
    const bool outside = base > group_evict_event(messages_) && base < group_evict_entry_event(messages_);

    bool possible = false;
    for (int i = 0; i < event.count; ++i) {
      const Row& row = table_.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
      if (row.impossible) continue;
      possible = true;
      Does first = Does::nothing;
      for (const Action action : row.steps()) {
        if (first == Does::nothing) first = effect(action, outside, base < messages_);
      }
      if (first == Does::uses || (first == Does::nothing && live[row.next])) return true;
    }
    return possible && std::find(guards.begin(), guards.end(), event.guard) != guards.end();
  }

  const ControllerTable& table_;
  std::size_t messages_;
};

bool speaks_of_member(Verb verb) {
  return verb == Verb::send_member || verb == Verb::send_owner || verb == Verb::send_sharers || verb == Verb::set_owner ||
         verb == Verb::add_member;
}

MessageUse use_at_group(const ControllerTable& table, std::size_t base, bool from_member) {
  const BaseEvent& event = table.base_events[base];
  MessageUse use;
  if (event.absent) return use;
  use.source = event.guard == GuardGroup::from_owner_from_other || event.guard == GuardGroup::last_sharer_more_sharers;
  use.acks = event.guard == GuardGroup::no_acks_acks;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    for (int i = 0; i < event.count; ++i) {
      for (const Action action : table.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i)).steps()) {
        use.source |= from_member &&
                      (action.verb == Verb::remove_sender || action.verb == Verb::save_member || speaks_of_member(action.verb));
        use.requestor |= !from_member && (action.verb == Verb::save_requestor || action.verb == Verb::send_requestor);
        use.acks |= action.verb == Verb::add_acks;
        use.data |= action.verb == Verb::take_data;
      }
    }
  }
  return use;
}

std::vector<TreeNames> all_names(const TreeCheckOptions& size) {
  std::vector<TreeNames> all = {TreeNames{}};
  const auto end_of = [](auto& names, int count) { return names.begin() + count; };
  for (int group = 0; group < size.groups; ++group) {
    std::vector<TreeNames> more;
    for (const TreeNames& names : all) {
      TreeNames next = names;
      auto& order = next.members[group];
      do more.push_back(next);
      while (std::next_permutation(order.begin(), end_of(order, size.members_of(group))));
    }
    all = std::move(more);
  }
  std::vector<TreeNames> more;
  const int alike = size.last_members > 0 ? size.groups - 1 : size.groups;
  for (TreeNames names : all) {
    do more.push_back(names);
    while (std::next_permutation(names.groups.begin(), end_of(names.groups, alike)));
  }
  return more;
}

std::uint16_t word_of(const TreeMessage& message) {
  const NetworkMessage& in = message.message;
  const int last = message.to == kMemory ? tree_bits(in.source) : in.acks;
  return static_cast<std::uint16_t>((in.message + 1) | message.network << 5 | tree_bits(message.to) << 7 |
                                    tree_bits(in.requestor) << 9 | last << 11 | message.data << 13);
}

TreeMessage message_of(std::uint16_t word) {
  TreeMessage message;
  message.network = word >> 5 & 3;
  message.to = (word >> 7 & 3) == kNobodyInTree ? kMemory : word >> 7 & 3;
  const int last = word >> 11 & 3;
  const bool up = message.to == kMemory;
  std::int8_t requestor = tree_number(word >> 9 & 3);
  if (requestor == kNobody && message.network > 0 && !up) requestor = kGroupItself;
  message.message = {static_cast<MessageId>((word & 31) - 1), up ? tree_number(last) : static_cast<std::int8_t>(kNobody),
                     requestor, static_cast<std::int8_t>(up ? 0 : last)};
  message.data = word >> 13 & 1;
  return message;
}

}  // namespace

TreeSystem::TreeSystem(const TreeProtocols& tables, const TreeCheckOptions& options)
    : protocols(tables),
      size(options),
      groups(options.groups),
      members(options.members),
      alone{tables.directory, std::nullopt, std::nullopt},
      flat(alone, {.agents = options.groups, .caches = 1}),
      group(tables.group.group),
      group_rules(tables.group, Controller::group),
      renamings(all_names(options)) {
  const std::size_t count = messages().size();
  if (count > 30 || directory().states.size() > 32) {
    throw CheckTooLarge(fmt::format("{}: more messages or states than this check can encode", protocols.group.name));
  }
  for (std::size_t m = 0; m < count; ++m) {
    from_members.push_back(use_at_group(group, member_event(static_cast<MessageId>(m)), true));
    from_outside.push_back(use_at_group(group, outside_event(count, static_cast<MessageId>(m)), false));
  }
  const GroupLive live(group, count);
  const auto& known = messages();
  group_data = live.states([&known](Action action, bool, bool) {
    if (action.verb == Verb::take_data) return Does::sets;
    const bool sends =
        action.verb == Verb::send_home || action.verb == Verb::send_requestor || action.verb == Verb::send_member;
    return sends && known[action.argument].carries_data ? Does::uses : Does::nothing;
  });
  group_member = live.states([](Action action, bool outside, bool) {
    if (action.verb == Verb::save_member) return Does::sets;
    return outside && speaks_of_member(action.verb) ? Does::uses : Does::nothing;
  });
  group_requestor = live.states([](Action action, bool outside, bool) {
    if (action.verb == Verb::save_requestor) return Does::sets;
    return !outside && action.verb == Verb::send_requestor ? Does::uses : Does::nothing;
  });
  group_owner = live.states(
      [](Action action, bool, bool) {
        if (action.verb == Verb::set_owner || action.verb == Verb::clear_owner) return Does::sets;
        const bool uses =
            action.verb == Verb::send_owner || action.verb == Verb::recall_owner || action.verb == Verb::add_owner;
        return uses ? Does::uses : Does::nothing;
      },
      {GuardGroup::from_owner_from_other});
  group_sharers = live.states(
      [](Action action, bool, bool) {
        if (action.verb == Verb::set_owner || action.verb == Verb::clear_sharers) return Does::sets;
        return action.verb == Verb::send_sharers || action.verb == Verb::recall_sharers ? Does::uses : Does::nothing;
      },
      {GuardGroup::sharers_no_sharers, GuardGroup::last_sharer_more_sharers});
}

const MessageUse& TreeSystem::use(const TreeMessage& message) const {
  const MessageId id = message.message.message;
  if (message.network == 0) return message.to == kMemory ? flat.to_home[id] : from_outside[id];
  return message.to == kMemory ? from_members[id] : flat.to_agent[id];
}

void TreeSystem::clear_dead_variables(TreeWorld& world) const {
  for (int g = 0; g < groups; ++g) {
    TreeGroup& of = world.group(g);
    const StateId state = of.entry.state;
    if (!group_data[state]) of.data = 0;
    if (!group_member[state]) of.entry.member = kNobody;
    if (!group_requestor[state]) of.entry.requestor = kNobody;
    if (!group_owner[state]) of.entry.owner = kNobody;
    if (!group_sharers[state]) of.entry.sharers = 0;
    for (int c = 0; c < members_of(g); ++c) {
      TreeCache& cache = world.cache(g, c);
      if (!flat.agent_data[cache.entry.state]) cache.data = 0;
    }
  }
  if (!flat.owner[world.directory.state]) world.directory.owner = kNobody;
  if (!flat.sharers[world.directory.state]) world.directory.sharers = 0;
  if (!flat.memory[world.directory.state]) world.memory_data = 0;
}

TreeKey TreeSystem::pack(const TreeWorld& world, const TreeNames& names) const {
  std::array<std::int8_t, 4> new_group{0, 1, 2, kNobody};
  std::array<std::array<std::int8_t, 4>, kMaxCheckedGroups> new_member{};  // new member number, by old group and old member
  for (int g = 0; g < groups; ++g) {
    const std::size_t old = names.groups[g];
    new_group[old] = static_cast<std::int8_t>(g);
    new_member[old] = {0, 1, 2, kNobody};
    for (int c = 0; c < members_of(g); ++c) new_member[old][names.members[old][c]] = static_cast<std::int8_t>(c);
  }
  const auto group_name = [&](int number) { return new_group[tree_bits(number)]; };
  std::array<std::uint16_t, kTreeWords> words{};
  std::size_t count = 0;
  const auto put = [&](std::uint32_t word) { words[count++] = static_cast<std::uint16_t>(word); };
  const auto renamed_set = [](std::uint64_t set, const auto& rename) {
    std::uint64_t result = 0;
    for (int i = 0; i < kNobodyInTree; ++i) result |= (set >> i & 1) << (rename(i) < 0 ? 0 : rename(i));
    return static_cast<std::uint32_t>(result);
  };
  for (int g = 0; g < groups; ++g) {
    const int old = names.groups[g];
    const auto member_name = [&](int number) { return new_member[old][tree_bits(number)]; };
    const TreeGroup& of = world.group(old);
    const ControllerEntry& entry = of.entry;
    put(entry.state | static_cast<std::uint32_t>(entry.acks + 8) << 8 | static_cast<std::uint32_t>(of.data) << 12);
    put(static_cast<std::uint32_t>(tree_bits(member_name(entry.member)) | tree_bits(group_name(entry.requestor)) << 2 |
                                   tree_bits(member_name(entry.owner)) << 4) |
        renamed_set(entry.sharers, member_name) << 6);
    for (int c = 0; c < members_of(g); ++c) {
      const TreeCache& cache = world.cache(old, names.members[old][c]);
      put(cache.entry.state | static_cast<std::uint32_t>(cache.entry.acks + 8) << 8 |
          static_cast<std::uint32_t>(cache.data) << 12 | static_cast<std::uint32_t>(cache.access) << 13);
    }
  }
  put(world.directory.state | static_cast<std::uint32_t>(tree_bits(group_name(world.directory.owner))) << 5 |
      renamed_set(world.directory.sharers, group_name) << 7 | static_cast<std::uint32_t>(world.memory_data) << 10 |
      static_cast<std::uint32_t>(world.latest) << 11);
  if (world.message_count > kTreeWords - count) {
    throw CheckTooLarge(fmt::format("{}: nothing is proved: {} messages are under way at once, more than a state can encode",
                                    protocols.group.name, world.message_count));
  }
  // Forwards come first. They are sorted by network and receiver, and stay in the order in which they were sent. The order of
  // other messages has no meaning, so these are sorted by their encoding.
  std::array<std::pair<int, std::uint16_t>, kTreeWords> moved{};
  for (std::size_t i = 0; i < world.message_count; ++i) {
    TreeMessage message = world.messages[i];
    const int old = message.network - 1;
    const auto rename = [&](int number) {
      if (old < 0) return static_cast<int>(group_name(number));
      return static_cast<int>(new_member[old][tree_bits(number)]);
    };
    if (message.network > 0) message.network = group_name(old) + 1;
    if (message.to >= 0) message.to = rename(message.to);
    message.message.requestor = static_cast<std::int8_t>(rename(message.message.requestor));
    message.message.source = static_cast<std::int8_t>(rename(message.message.source));
    constexpr int kUnordered = 99;
    const int queue = is_forward(message.message.message) && message.to >= 0 ? message.network * 4 + message.to : kUnordered;
    moved[i] = {queue, word_of(message)};
    for (std::size_t at = i; at > 0; --at) {
      const auto &before = moved[at - 1], &behind = moved[at];
      if (before.first < behind.first) break;
      if (before.first == behind.first && (behind.first != kUnordered || before.second <= behind.second)) break;
      std::swap(moved[at - 1], moved[at]);
    }
  }
  for (std::size_t i = 0; i < world.message_count; ++i) put(moved[i].second);
  TreeKey key;
  std::memcpy(key.words.data(), words.data(), sizeof words);
  return key;
}

TreeWorld TreeSystem::unpack(const TreeKey& key) const {
  std::array<std::uint16_t, kTreeWords> words{};
  std::memcpy(words.data(), key.words.data(), sizeof words);
  std::size_t at = 0;
  TreeWorld world;
  for (int g = 0; g < groups; ++g) {
    TreeGroup& of = world.group(g);
    const int first = words[at++], second = words[at++];
    of.entry = {.state = static_cast<StateId>(first & 0xff),
                .acks = static_cast<std::int8_t>((first >> 8 & 15) - 8),
                .requestor = tree_number(second >> 2 & 3),
                .owner = tree_number(second >> 4 & 3),
                .member = tree_number(second & 3),
                .sharers = static_cast<std::uint64_t>(second >> 6)};
    of.data = first >> 12 & 1;
    for (int c = 0; c < members_of(g); ++c) {
      const int word = words[at++];
      TreeCache& cache = world.cache(g, c);
      cache.entry.state = static_cast<StateId>(word & 0xff);
      cache.entry.acks = static_cast<std::int8_t>((word >> 8 & 15) - 8);
      cache.data = word >> 12 & 1;
      cache.access = static_cast<Waiting>(word >> 13);
    }
  }
  const int home = words[at++];
  world.directory = {.state = static_cast<StateId>(home & 31),
                     .owner = tree_number(home >> 5 & 3),
                     .sharers = static_cast<std::uint64_t>(home >> 7 & 7)};
  world.memory_data = home >> 10 & 1;
  world.latest = home >> 11 & 1;
  while (at < kTreeWords && words[at] != 0) world.messages[world.message_count++] = message_of(words[at++]);
  return world;
}

TreeKey TreeSystem::canonical(TreeWorld world) const {
  if (world.latest != 0) {
    world.latest = 0;
    for (int g = 0; g < groups; ++g) {
      if (group_data[world.group(g).entry.state]) world.group(g).data ^= 1;
      for (int c = 0; c < members_of(g); ++c) {
        if (flat.agent_data[world.cache(g, c).entry.state]) world.cache(g, c).data ^= 1;
      }
    }
    if (flat.memory[world.directory.state]) world.memory_data ^= 1;
    for (std::size_t i = 0; i < world.message_count; ++i) {
      TreeMessage& message = world.messages[i];
      if (use(message).data) message.data ^= 1;
    }
  }
  TreeKey least = pack(world, renamings.front());
  for (std::size_t i = 1; i < renamings.size(); ++i) least = std::min(least, pack(world, renamings[i]));
  return least;
}

}  // namespace linebounce::checker
