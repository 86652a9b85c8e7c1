#include "models/coherence/checker/network/network_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace linebounce::checker {
namespace {

constexpr int kNobodyBits = 7;  // encodes kNobody in the three bits of an agent's or cache's number

int bits_of(int number) {
  return number < 0 ? kNobodyBits : number;
}
std::int8_t number_of(int bits) {
  return static_cast<std::int8_t>(bits == kNobodyBits ? kNobody : bits);
}

std::uint32_t agent_bits(const AgentWorld& agent) {
  const ControllerEntry& entry = agent.entry;
  return static_cast<std::uint32_t>(entry.state | agent.data << 8 | (entry.acks + 8) << 9 | bits_of(entry.member) << 13 |
                                    bits_of(entry.requestor) << 16 | static_cast<int>(agent.access) << 19 |
                                    agent.transaction << 21 | agent.bus_data << 25);
}

AgentWorld agent_of(std::uint32_t bits) {
  AgentWorld agent;
  agent.entry = {.state = static_cast<StateId>(bits & 0xff),
                 .acks = static_cast<std::int8_t>(static_cast<int>(bits >> 9 & 15) - 8),
                 .requestor = number_of(static_cast<int>(bits >> 16 & 7)),
                 .member = number_of(static_cast<int>(bits >> 13 & 7))};
  agent.data = bits >> 8 & 1;
  agent.access = static_cast<Waiting>(bits >> 19 & 3);
  agent.transaction = bits >> 21 & 15;
  agent.bus_data = bits >> 25 & 1;
  return agent;
}

std::uint32_t directory_bits(const NetworkWorld& world) {
  return world.directory.state | static_cast<std::uint32_t>(world.memory_data) << 8 |
         static_cast<std::uint32_t>(world.latest) << 9 | static_cast<std::uint32_t>(bits_of(world.directory.owner)) << 10 |
         static_cast<std::uint32_t>(world.directory.sharers) << 13;
}

class WordWriter {
 public:
  void word(std::uint16_t value) { words_[count_++] = value; }
  void two_words(std::uint32_t value) {
    word(static_cast<std::uint16_t>(value));
    word(static_cast<std::uint16_t>(value >> 16));
  }
  [[nodiscard]] std::size_t room() const { return kKeyWords - count_; }
  [[nodiscard]] NetworkKey key() const {
    NetworkKey key;
    std::memcpy(key.words.data(), words_.data(), sizeof words_);
    return key;
  }

 private:
  std::array<std::uint16_t, kKeyWords> words_{};
  std::size_t count_ = 0;
};

// Renames the agents in a message: agent a becomes new_name[a].
struct Renaming {
  std::array<std::int8_t, 8> new_name{0, 1, 2, 3, 4, 5, 6, kNobody};

  [[nodiscard]] std::int8_t operator()(int agent) const { return agent < 0 ? kNobody : new_name[agent]; }
  [[nodiscard]] std::uint16_t operator()(std::uint16_t word) const {
    MessageUnderWay moved = unpack_message(word);
    if (moved.to >= 0) moved.to = (*this)(moved.to);
    moved.message.requestor = (*this)(moved.message.requestor);
    moved.message.source = (*this)(moved.message.source);
    return pack(moved);
  }
};

// Packs a world after renaming each agent old_name[i] to i.
NetworkKey pack_renamed(const CheckedSystem& system, const NetworkWorld& world,
                        const std::array<int, kMaxCheckedAgents>& old_name) {
  Renaming rename;
  for (int i = 0; i < system.agents; ++i) {
    rename.new_name[old_name[i]] = static_cast<std::int8_t>(i);
  }
  WordWriter out;
  for (int i = 0; i < system.agents; ++i) {
    AgentWorld agent = world.agent(old_name[i]);
    agent.entry.requestor = rename(agent.entry.requestor);
    out.two_words(agent_bits(agent));
    for (int c = 0; c < system.caches; ++c) out.word(pack(agent.caches[c]));
  }
  std::uint64_t sharers = 0;
  for (int i = 0; i < system.agents; ++i) {
    sharers |= (world.directory.sharers >> old_name[i] & 1) << i;
  }
  NetworkWorld home;
  home.directory = {.state = world.directory.state, .owner = rename(world.directory.owner), .sharers = sharers};
  home.memory_data = world.memory_data;
  home.latest = world.latest;
  out.two_words(directory_bits(home));

  if (world.message_count > out.room()) {
    throw CheckTooLarge(fmt::format("{}: nothing is proved: {} messages are under way at once, more than a state can encode",
                                    system.subject.name, world.message_count));
  }
  // Forwards come first. They are sorted by receiver, and stay in the order in which they were sent. The order of other
  // messages has no meaning, so these are sorted by their encoding.
  std::array<std::uint16_t, kKeyWords> moved{};
  const auto end = moved.begin() + static_cast<std::ptrdiff_t>(world.message_count);
  std::transform(world.messages.begin(), world.messages.begin() + static_cast<std::ptrdiff_t>(world.message_count),
                 moved.begin(), rename);
  const auto forward_to = [&](std::uint16_t word) {
    const MessageUnderWay message = unpack_message(word);
    return system.is_forward(message.message.message) ? message.to : kMaxCheckedAgents;
  };
  // Insertion sort, because it is stable and the messages are few.
  for (auto sorted = moved.begin(); sorted != end; ++sorted) {
    for (auto at = sorted; at != moved.begin(); --at) {
      const int before = forward_to(at[-1]), behind = forward_to(*at);
      if (before < behind || (before == behind && (before != kMaxCheckedAgents || at[-1] <= *at))) break;
      std::swap(at[-1], *at);
    }
  }
  for (auto at = moved.begin(); at != end; ++at) out.word(*at);
  return out.key();
}

constexpr std::array<int, kMaxCheckedAgents> kSameNames = {0, 1, 2, 3, 4, 5};

// Makes `latest` 0: if it is 1, swaps the values 0 and 1 in all live variables.
void rename_values(const CheckedSystem& system, NetworkWorld& world) {
  if (world.latest == 0) return;
  world.latest = 0;
  for (int i = 0; i < system.agents; ++i) {
    AgentWorld& agent = world.agent(i);
    if (system.agent_data[agent.entry.state]) agent.data ^= 1;
    if (agent.data_step_due()) agent.bus_data ^= 1;
    for (int c = 0; c < system.caches; ++c) {
      CacheWorld& cache = agent.caches[c];
      if (system.cache_data[cache.state]) cache.data ^= 1;
    }
  }
  if (system.memory[world.directory.state]) world.memory_data ^= 1;
  for (std::size_t i = 0; i < world.message_count; ++i) {
    MessageUnderWay message = unpack_message(world.messages[i]);
    const auto& use = message.to == kMemory ? system.to_home : system.to_agent;
    if (use[message.message.message].data) message.data ^= 1;
    world.messages[i] = pack(message);
  }
}

void sort_caches(const CheckedSystem& system, AgentWorld& agent) {
  std::array<int, kMaxCheckedNodeCaches> order{};
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](int cache) { return pack(agent.caches[cache]) << 1 | (agent.entry.member == cache); };
  std::stable_sort(order.begin(), order.begin() + system.caches, [&](int a, int b) { return rank(a) < rank(b); });
  const AgentWorld before = agent;
  for (int c = 0; c < system.caches; ++c) {
    const int from = order[c];
    agent.caches[c] = before.caches[from];
    if (before.entry.member == from) agent.entry.member = static_cast<std::int16_t>(c);
  }
}

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15ULL;
  return value ^ value >> 29;
}

// A hash of an agent's state and its messages that does not depend on how the agents are numbered.
std::uint64_t signature(const CheckedSystem& system, const NetworkWorld& world, int number) {
  AgentWorld agent = world.agent(number);
  agent.entry.requestor = static_cast<std::int8_t>(agent.entry.requestor == kNobody ? kNobody : 0);
  std::uint64_t sum = mixed(agent_bits(agent));
  for (int c = 0; c < system.caches; ++c) sum = mixed(sum ^ pack(agent.caches[c]));
  sum ^= static_cast<std::uint64_t>(world.directory.owner == number) << 1 | (world.directory.sharers >> number & 1);
  sum = mixed(sum);
  std::uint64_t place = 0;  // the forward's position in the agent's queue
  for (std::size_t i = 0; i < world.message_count; ++i) {
    const MessageUnderWay under_way = unpack_message(world.messages[i]);
    const NetworkMessage& message = under_way.message;
    const std::uint64_t queued = under_way.to == number && system.is_forward(message.message) ? ++place : 0;
    sum += mixed(mixed(static_cast<std::uint64_t>(message.message) << 8 | queued << 16 |
                       static_cast<std::uint64_t>(under_way.to == number) << 7 |
                       static_cast<std::uint64_t>(message.requestor == number) << 6 |
                       static_cast<std::uint64_t>(message.source == number) << 5 |
                       static_cast<std::uint64_t>(message.acks) << 1 | under_way.data));
  }
  return sum;
}

}  // namespace

std::uint16_t pack(const MessageUnderWay& under_way) {
  const NetworkMessage& message = under_way.message;
  const bool home = under_way.to == kMemory;
  // Bits 11 to 13 hold the source in a message to the directory, and the number of acknowledgements in a message to an agent.
  // Neither receiver needs the other's value.
  return static_cast<std::uint16_t>((message.message + 1) | bits_of(under_way.to) << 5 | bits_of(message.requestor) << 8 |
                                    (home ? bits_of(message.source) : message.acks) << 11 | under_way.data << 14);
}

MessageUnderWay unpack_message(std::uint16_t word) {
  MessageUnderWay under_way;
  const bool home = (word >> 5 & 7) == kNobodyBits;
  const int last = word >> 11 & 7;
  under_way.to = home ? kMemory : word >> 5 & 7;
  under_way.message = {static_cast<MessageId>((word & 31) - 1), home ? number_of(last) : static_cast<std::int8_t>(kNobody),
                       number_of(word >> 8 & 7), static_cast<std::int8_t>(home ? 0 : last)};
  under_way.data = word >> 14 & 1;
  return under_way;
}

void clear_dead_variables(const CheckedSystem& system, NetworkWorld& world) {
  for (int i = 0; i < system.agents; ++i) {
    AgentWorld& agent = world.agent(i);
    if (!system.agent_data[agent.entry.state]) agent.data = 0;
    if (!system.agent_requestor[agent.entry.state]) agent.entry.requestor = kNobody;
    for (int c = 0; c < system.caches; ++c) {
      CacheWorld& cache = agent.caches[c];
      if (!system.cache_data[cache.state]) cache.data = 0;
    }
  }
  if (!system.owner[world.directory.state]) world.directory.owner = kNobody;
  if (!system.sharers[world.directory.state]) world.directory.sharers = 0;
  if (!system.memory[world.directory.state]) world.memory_data = 0;
}

NetworkKey pack(const CheckedSystem& system, const NetworkWorld& world) {
  return pack_renamed(system, world, kSameNames);
}

NetworkWorld unpack(const CheckedSystem& system, const NetworkKey& key) {
  std::array<std::uint16_t, kKeyWords> words{};
  std::memcpy(words.data(), key.words.data(), sizeof words);
  std::size_t at = 0;
  const auto two_words = [&] {
    at += 2;
    return static_cast<std::uint32_t>(words[at - 2] | static_cast<std::uint32_t>(words[at - 1]) << 16);
  };
  NetworkWorld world;
  for (int i = 0; i < system.agents; ++i) {
    world.agent(i) = agent_of(two_words());
    for (int c = 0; c < system.caches; ++c) world.agent(i).caches[c] = unpack_cache(words[at++]);
  }
  const std::uint32_t home = two_words();
  world.directory = {
      .state = static_cast<StateId>(home & 0xff), .owner = number_of(static_cast<int>(home >> 10 & 7)), .sharers = home >> 13};
  world.memory_data = home >> 8 & 1;
  world.latest = home >> 9 & 1;
  while (at < kKeyWords && words[at] != 0) world.messages[world.message_count++] = words[at++];
  return world;
}

NetworkKey canonical(const CheckedSystem& system, NetworkWorld world) {
  rename_values(system, world);
  std::array<std::uint64_t, kMaxCheckedAgents> signatures{};
  for (int i = 0; i < system.agents; ++i) {
    sort_caches(system, world.agent(i));
    signatures[i] = signature(system, world, i);
  }
  const auto signature_of = [&](int agent) { return signatures[agent]; };
  // Tries all orders of the agents in which the signatures ascend, so agents with equal signatures are tried in every order.
  // The least key of all these orders is the canonical one.
  std::array<int, kMaxCheckedAgents> order = kSameNames;
  const auto end = order.begin() + system.agents;
  std::optional<NetworkKey> least;
  do {
    if (!std::is_sorted(order.begin(), end, [&](int a, int b) { return signature_of(a) < signature_of(b); })) continue;
    const NetworkKey key = pack_renamed(system, world, order);
    if (!least || key < *least) least = key;
  } while (std::next_permutation(order.begin(), end));
  return *least;
}

}  // namespace linebounce::checker
