#include "models/coherence/checker/network/network_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace linebounce::checker {
namespace {

// Three bits encode the number of an agent or cache.
constexpr int kNumberBits = 3;
constexpr std::int8_t kItselfCode = 6, kNobodyCode = 7;

std::int8_t code_of(int number) {
  return number < 0 ? kNobodyCode : number == kGroupItself ? kItselfCode : static_cast<std::int8_t>(number);
}
std::int8_t number_of(std::uint64_t code) {
  return code == kNobodyCode   ? static_cast<std::int8_t>(kNobody)
         : code == kItselfCode ? kGroupItself
                               : static_cast<std::int8_t>(code);
}

int bits_for(const ControllerTable& table) {
  return static_cast<int>(std::bit_width(std::max<std::size_t>(table.states.size(), 2) - 1));
}

}  // namespace

// Appends a controller's values, of a few bits each, to one word.
class WordWriter {
 public:
  template <class Value>
  void operator()(Value value, int bits) {
    word_ |= static_cast<std::uint64_t>(value) << count_;
    count_ += bits;
  }
  void number(int value) { (*this)(code_of(value), kNumberBits); }
  void acks(std::int8_t value) { (*this)(value + 8, 4); }
  [[nodiscard]] std::uint64_t word() const { return word_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::uint64_t word_ = 0;
  int count_ = 0;
};

class KeyWriter {
 public:
  void put(const WordWriter& word) { put(word.word(), word.count()); }
  void put(std::uint64_t value, int bits) {
    const std::size_t word = at_ / 64, shift = at_ % 64;
    words_[word] |= value << shift;
    words_[word + 1] = value >> 1 >> (63 - shift);  // the bits that do not fit into the first word
    at_ += static_cast<std::size_t>(bits);
  }
  [[nodiscard]] std::size_t room() const { return kKeyWords * 64 - at_; }
  [[nodiscard]] NetworkKey key() const {
    NetworkKey key;
    std::copy(words_.begin(), words_.begin() + kKeyWords, key.words.begin());
    return key;
  }

 private:
  std::array<std::uint64_t, kKeyWords + 1> words_{};
  std::size_t at_ = 0;
};

namespace {

// Reads the values in the order in which they were written.
class KeyReader {
 public:
  explicit KeyReader(const NetworkKey& key) : key_(key) {}
  template <class Value>
  void operator()(Value& value, int bits) {
    value = static_cast<Value>(get(bits));
  }
  template <class Number>
  void number(Number& value) {
    value = number_of(get(kNumberBits));
  }
  void acks(std::int8_t& value) { value = static_cast<std::int8_t>(static_cast<int>(get(4)) - 8); }

  std::uint64_t get(int bits) {
    const std::size_t word = at_ / 64, shift = at_ % 64;
    std::uint64_t value = key_.words[word] >> shift;
    if (shift + static_cast<std::size_t>(bits) > 64) value |= key_.words[word + 1] << (64 - shift);
    at_ += static_cast<std::size_t>(bits);
    return value & ((std::uint64_t{1} << bits) - 1);
  }
  [[nodiscard]] std::size_t room() const { return kKeyWords * 64 - at_; }

 private:
  const NetworkKey& key_;
  std::size_t at_ = 0;
};

template <std::size_t N>
std::int8_t renamed(const std::array<std::int8_t, N>& new_number, int number) {
  return number < 0 || number == kGroupItself ? static_cast<std::int8_t>(number) : new_number[number];
}
template <std::size_t N>
std::uint64_t renamed_set(const std::array<std::int8_t, N>& new_number, std::uint64_t set) {
  std::uint64_t result = 0;
  for (std::uint64_t rest = set; rest != 0; rest &= rest - 1) {
    result |= std::uint64_t{1} << renamed(new_number, std::countr_zero(rest));
  }
  return result;
}

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15ULL;
  return value ^ value >> 29;
}

// All renamings: every order of the first alike() agents, and with groups, of the caches in each group.
std::vector<Renaming> all_renamings(const CheckedSystem& system) {
  Renaming same;
  std::iota(same.old_agent.begin(), same.old_agent.end(), std::int8_t{0});
  for (auto& caches : same.old_cache) std::iota(caches.begin(), caches.end(), std::int8_t{0});
  std::vector<Renaming> all = {same};
  const auto permute = [&all](auto numbers_of, int count) {
    std::vector<Renaming> more;
    for (Renaming names : all) {
      auto& numbers = numbers_of(names);
      do more.push_back(names);
      while (std::next_permutation(numbers.begin(), numbers.begin() + count));
    }
    all = std::move(more);
  };
  for (int agent = 0; system.has_groups && agent < system.agents; ++agent) {
    permute(
        [agent](Renaming & names) -> auto& { return names.old_cache[agent]; }, system.caches(agent));
  }
  permute(
      [](Renaming & names) -> auto& { return names.old_agent; }, system.alike());
  for (Renaming& names : all) {
    for (std::size_t agent = 0; agent < names.old_agent.size(); ++agent) {
      names.new_agent[names.old_agent[agent]] = static_cast<std::int8_t>(agent);
      for (std::size_t cache = 0; cache < names.old_cache[agent].size(); ++cache) {
        names.new_cache[agent][names.old_cache[agent][cache]] = static_cast<std::int8_t>(cache);
      }
    }
  }
  return all;
}

}  // namespace

WorldCodec::WorldCodec(const CheckedSystem& system)
    : system_(system),
      renamings_(all_renamings(system)),
      home_state_bits_(bits_for(system.directory())),
      agent_state_bits_(bits_for(system.agent())),
      cache_state_bits_(bits_for(system.cache())),
      message_bits_(system.has_groups ? 17 : 15) {}

void clear_dead_variables(const CheckedSystem& system, NetworkWorld& world) {
  const auto clear = [](const LiveByState& by_state, ControllerWorld& at) {
    const Live& live = by_state[at.entry.state];
    if (!live.data) at.data = 0;
    if (!live.member) at.entry.member = kNobody;
    if (!live.requestor) at.entry.requestor = kNobody;
    if (!live.owner) at.entry.owner = kNobody;
    if (!live.sharers) at.entry.sharers = 0;
  };
  clear(system.home_live, world.home);
  for (int a = 0; a < system.agents; ++a) {
    clear(system.agent_live, world.agent(a));
    for (int c = 0; c < system.caches(a); ++c) {
      ControllerWorld& cache = world.agent(a).caches[c];
      if (!system.cache_live[cache.entry.state].data) cache.data = 0;
    }
  }
}

// The same functions write and read a key, so that both agree about its layout.
template <class Coder, class World>
void WorldCodec::code_home(Coder& coder, ControllerEntry& entry, World& world) const {
  coder(entry.state, home_state_bits_);
  coder(world.home.data, 1);
  coder(world.latest, 1);
  coder.number(entry.owner);
  coder(entry.sharers, kMaxCheckedAgents);
}

template <class Coder, class Agent>
void WorldCodec::code_agent(Coder& coder, ControllerEntry& entry, Agent& agent) const {
  coder(entry.state, agent_state_bits_);
  coder(agent.data, 1);
  coder.acks(entry.acks);
  if (!system_.has_nodes && !system_.has_groups) return coder(agent.access, 2);
  coder.number(entry.member);
  coder.number(entry.requestor);
  if (system_.has_groups) {
    coder.number(entry.owner);
    coder(entry.sharers, kMaxCheckedMembers);
  } else {
    coder(agent.transaction, 4);
    coder(agent.bus_data, 1);
  }
}

template <class Coder, class Cache>
void WorldCodec::code_cache(Coder& coder, Cache& cache) const {
  coder(cache.entry.state, cache_state_bits_);
  coder(cache.data, 1);
  coder(cache.access, 2);
  if (system_.has_groups) return coder.acks(cache.entry.acks);
  coder(cache.request, 4);
  coder(cache.data_due, 1);
}

WordWriter WorldCodec::agent_word(ControllerEntry& entry, const AgentWorld& agent) const {
  WordWriter word;
  code_agent(word, entry, agent);
  return word;
}
WordWriter WorldCodec::cache_word(const ControllerWorld& cache) const {
  WordWriter word;
  code_cache(word, cache);
  return word;
}

// A message to a home or group needs its source, and one to an agent or a member the number of acknowledgements; neither
// receiver reads the other's value.
std::uint32_t WorldCodec::word_of(const MessageUnderWay& under_way) const {
  const NetworkMessage& message = under_way.message;
  const int last = under_way.to == kMemory ? code_of(message.source) : message.acks;
  return static_cast<std::uint32_t>((message.message + 1) | code_of(under_way.to) << 5 | code_of(message.requestor) << 8 |
                                    last << 11 | under_way.data << 14 | under_way.network << 15);
}

MessageUnderWay WorldCodec::message_of(std::uint32_t word) const {
  MessageUnderWay under_way;
  under_way.network = static_cast<std::int8_t>(word >> 15);
  const bool up = (word >> 5 & 7) == kNobodyCode;
  under_way.to = up ? static_cast<std::int8_t>(kMemory) : number_of(word >> 5 & 7);
  under_way.data = word >> 14 & 1;
  under_way.message = {.message = static_cast<MessageId>((word & 31) - 1),
                       .source = up ? number_of(word >> 11 & 7) : static_cast<std::int8_t>(kNobody),
                       .requestor = number_of(word >> 8 & 7),
                       .acks = static_cast<std::int8_t>(up ? 0 : word >> 11 & 7)};
  return under_way;
}

// Forwards come first. They are sorted by network and receiver, and stay in the order in which they were sent. The order of
// other messages has no meaning, so these are sorted by their encoding.
void WorldCodec::code_messages(KeyWriter& out, const NetworkWorld& world, const Renaming& names) const {
  if (world.message_count * static_cast<std::size_t>(message_bits_) > out.room()) {
    throw CheckTooLarge(fmt::format("{}: nothing is proved: {} messages are under way at once, more than a state can encode",
                                    system_.subject.name, world.message_count));
  }
  constexpr std::uint64_t kUnordered = 255;
  std::array<std::uint64_t, kMostUnderWay> sorted{};  // queue, position in the queue, word
  for (std::size_t i = 0; i < world.message_count; ++i) {
    MessageUnderWay message = world.messages[i];
    const bool queued = message.to >= 0 && system_.is_forward(message.message.message);
    const auto rename = [&](const auto& new_number) {
      message.to = renamed(new_number, message.to);
      message.message.requestor = renamed(new_number, message.message.requestor);
      message.message.source = renamed(new_number, message.message.source);
    };
    if (message.network == 0) {
      rename(names.new_agent);
    } else {
      rename(names.new_cache[message.network - 1]);
      message.network = static_cast<std::int8_t>(names.new_agent[message.network - 1] + 1);
    }
    const std::uint64_t word = word_of(message);
    const std::uint64_t queue = queued ? static_cast<std::uint64_t>(message.network * 8 + message.to) : kUnordered;
    const std::uint64_t rank = queue << 40 | (queued ? i : word) << 20 | word;
    std::size_t at = i;
    for (; at > 0 && sorted[at - 1] > rank; --at) sorted[at] = sorted[at - 1];
    sorted[at] = rank;
  }
  for (std::size_t i = 0; i < world.message_count; ++i) out.put(sorted[i] & 0xfffff, message_bits_);
}

NetworkKey WorldCodec::pack(const NetworkWorld& world, const Renaming& names) const {
  KeyWriter out;
  for (int i = 0; i < system_.agents; ++i) {
    const int old = names.old_agent[i];
    const AgentWorld& agent = world.agent(old);
    ControllerEntry entry = agent.entry;
    entry.requestor = renamed(names.new_agent, entry.requestor);
    entry.member = renamed(names.new_cache[old], entry.member);
    entry.owner = renamed(names.new_cache[old], entry.owner);
    entry.sharers = renamed_set(names.new_cache[old], entry.sharers);
    out.put(agent_word(entry, agent));
    for (int c = 0; c < system_.caches(old); ++c) out.put(cache_word(agent.caches[names.old_cache[old][c]]));
  }
  ControllerEntry home = world.home.entry;
  home.owner = renamed(names.new_agent, home.owner);
  home.sharers = renamed_set(names.new_agent, home.sharers);
  WordWriter home_word;
  code_home(home_word, home, world);
  out.put(home_word);
  code_messages(out, world, names);
  return out.key();
}

NetworkWorld WorldCodec::unpack(const NetworkKey& key) const {
  KeyReader in(key);
  NetworkWorld world;
  for (int a = 0; a < system_.agents; ++a) {
    code_agent(in, world.agent(a).entry, world.agent(a));
    for (int c = 0; c < system_.caches(a); ++c) code_cache(in, world.agent(a).caches[c]);
  }
  code_home(in, world.home.entry, world);
  while (in.room() >= static_cast<std::size_t>(message_bits_)) {
    const auto word = static_cast<std::uint32_t>(in.get(message_bits_));
    if (word == 0) break;
    world.messages[world.message_count++] = message_of(word);
  }
  return world;
}

// Makes `latest` 0: if it is 1, swaps the values 0 and 1 in all live variables.
void WorldCodec::rename_values(NetworkWorld& world) const {
  if (world.latest == 0) return;
  world.latest = 0;
  const auto swap = [](const LiveByState& live, ControllerWorld& at) {
    if (live[at.entry.state].data) at.data ^= 1;
  };
  swap(system_.home_live, world.home);
  for (int a = 0; a < system_.agents; ++a) {
    AgentWorld& agent = world.agent(a);
    swap(system_.agent_live, agent);
    if (agent.data_step_due()) agent.bus_data ^= 1;
    for (int c = 0; c < system_.caches(a); ++c) swap(system_.cache_live, agent.caches[c]);
  }
  for (std::size_t i = 0; i < world.message_count; ++i) {
    MessageUnderWay& message = world.messages[i];
    if (system_.use(way_of(message), message.message.message).data) message.data ^= 1;
  }
}

// Sorts the caches on a node's bus by their states. This is allowed because no row names a cache. Outside the caches, only
// the saved member names a cache; its number changes along.
void WorldCodec::sort_caches(AgentWorld& agent) const {
  std::array<int, kMaxCheckedNodeCaches> order{};
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](int number) {
    return cache_word(agent.caches[number]).word() << 1 | static_cast<std::uint64_t>(agent.entry.member == number);
  };
  // Insertion sort, because the caches are few.
  for (int i = 1; i < system_.options.caches; ++i) {
    for (int at = i; at > 0 && rank(order[at]) < rank(order[at - 1]); --at) std::swap(order[at], order[at - 1]);
  }
  const AgentWorld before = agent;
  for (int c = 0; c < system_.options.caches; ++c) {
    agent.caches[c] = before.caches[order[c]];
    if (before.entry.member == order[c]) agent.entry.member = static_cast<std::int16_t>(c);
  }
}

// A hash of an agent's state and its messages that does not depend on how agents and a group's caches are numbered.
std::uint64_t WorldCodec::signature(const NetworkWorld& world, int number) const {
  const AgentWorld& agent = world.agent(number);
  const auto whether = [](int known) { return static_cast<std::int8_t>(known == kNobody ? kNobody : 0); };
  ControllerEntry entry = agent.entry;
  entry.requestor = whether(entry.requestor);
  if (system_.has_groups) {
    entry.member = whether(entry.member);
    entry.owner = whether(entry.owner);
    entry.sharers = static_cast<std::uint64_t>(std::popcount(entry.sharers));
  }
  const ControllerEntry& home = world.home.entry;
  std::uint64_t sum = mixed(agent_word(entry, agent).word()) ^ static_cast<std::uint64_t>(home.owner == number) << 1 ^
                      (home.sharers >> number & 1);
  for (int c = 0; c < system_.caches(number); ++c) sum += mixed(cache_word(agent.caches[c]).word() + 1);
  sum = mixed(sum);
  std::uint64_t place = 0;  // the forward's position in the agent's queue
  for (std::size_t i = 0; i < world.message_count; ++i) {
    const MessageUnderWay& under_way = world.messages[i];
    const NetworkMessage& message = under_way.message;
    const bool inside = under_way.network > 0;
    if (inside && under_way.network != number + 1) continue;
    const auto names = [&](int who) { return static_cast<std::uint64_t>(inside ? who < 0 : who == number); };
    const std::uint64_t queued = !inside && under_way.to == number && system_.is_forward(message.message) ? ++place : 0;
    sum += mixed(static_cast<std::uint64_t>(message.message) << 8 | queued << 16 | names(under_way.to) << 7 |
                 names(message.requestor) << 6 | names(message.source) << 5 | static_cast<std::uint64_t>(message.acks) << 1 |
                 under_way.data | static_cast<std::uint64_t>(inside) << 20);
  }
  return sum;
}

NetworkKey WorldCodec::canonical(NetworkWorld world) const {
  rename_values(world);
  std::array<std::uint64_t, kMaxCheckedAgents> signatures{};
  for (int a = 0; a < system_.agents; ++a) {
    if (system_.has_nodes) sort_caches(world.agent(a));
    signatures[a] = signature(world, a);
  }
  // Tries all renamings in which the agents' signatures ascend, so agents with equal signatures are tried in every order. The
  // least key of all these is the canonical one.
  std::optional<NetworkKey> least;
  for (const Renaming& names : renamings_) {
    const auto end = names.old_agent.begin() + system_.alike();
    const bool ascends =
        std::is_sorted(names.old_agent.begin(), end, [&](int a, int b) { return signatures[a] < signatures[b]; });
    if (!ascends) continue;
    const NetworkKey key = pack(world, names);
    if (!least || key < *least) least = key;
  }
  return *least;
}

}  // namespace linebounce::checker
