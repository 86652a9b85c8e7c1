// A state of a bus with its caches and memory, and the state's encoding in 16 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce::checker {

enum class Waiting : std::uint8_t { nothing, load, store, atomic };  // a cache's pending access

constexpr Waiting waiting_for(std::size_t event) {
  return event == kLoad ? Waiting::load : event == kStore ? Waiting::store : Waiting::atomic;
}
// The base event of the pending access. REQUIRES: `waiting` is not Waiting::nothing.
inline std::size_t event_of(Waiting waiting, const Protocol& bus) {
  return waiting == Waiting::load ? kLoad : waiting == Waiting::store ? kStore : bus.atomic;
}

struct CacheWorld {
  StateId state = 0;
  std::uint8_t data = 0;  // the copy's value, 0 or 1
  Waiting access = Waiting::nothing;
  std::uint8_t request = 0;  // 1 + the id of the message that waits for its order step, or 0 for none
  bool data_due = false;     // true if the request was ordered and its data step is due

  friend bool operator==(const CacheWorld&, const CacheWorld&) = default;
};

constexpr std::size_t kMaxMessages = 15;  // limited by the four bits of an encoded CacheWorld::request

struct World {
  std::array<CacheWorld, kMaxCheckedCaches> caches{};
  StateId memory_state = 0;
  std::uint8_t memory_data = 0;
  std::uint8_t bus_data = 0;  // the value on the data bus; 0 if no data step is due
  std::uint8_t latest = 0;    // used only by the property checks: the value written last

  [[nodiscard]] bool data_step_due() const {
    return std::any_of(caches.begin(), caches.end(), [](const CacheWorld& cache) { return cache.data_due; });
  }
};

using CacheWord = std::uint16_t;

constexpr CacheWord pack(const CacheWorld& cache) {
  return static_cast<CacheWord>(cache.state | cache.data << 8 | static_cast<int>(cache.access) << 9 | cache.request << 11 |
                                static_cast<int>(cache.data_due) << 15);
}
constexpr CacheWorld unpack_cache(CacheWord word) {
  return {static_cast<StateId>(word & 0xff), static_cast<std::uint8_t>(word >> 8 & 1), static_cast<Waiting>(word >> 9 & 3),
          static_cast<std::uint8_t>(word >> 11 & 15), (word >> 15) != 0};
}

// An encoded state. There is one word for each cache; the last word holds everything else.
struct Key {
  std::array<CacheWord, kMaxCheckedCaches + 1> words{};
  friend bool operator==(const Key&, const Key&) = default;
};
static_assert(sizeof(Key) == 16);

inline Key pack(const World& world) {
  Key key;
  for (std::size_t i = 0; i < world.caches.size(); ++i) key.words[i] = pack(world.caches[i]);
  key.words.back() =
      static_cast<CacheWord>(world.memory_state | world.memory_data << 8 | world.bus_data << 9 | world.latest << 10);
  return key;
}

inline World unpack(const Key& key) {
  World world;
  for (std::size_t i = 0; i < world.caches.size(); ++i) world.caches[i] = unpack_cache(key.words[i]);
  const CacheWord rest = key.words.back();
  world.memory_state = static_cast<StateId>(rest & 0xff);
  world.memory_data = rest >> 8 & 1;
  world.bus_data = rest >> 9 & 1;
  world.latest = rest >> 10 & 1;
  return world;
}

// Returns the same key for all states that differ only in the numbering of caches. Sorting the caches' words suffices, because
// no row refers to a cache's number.
inline Key canonical(Key key, int caches) {
  // Insertion sort, because the words are few and nearly sorted.
  for (std::size_t i = 1; i < static_cast<std::size_t>(caches); ++i) {
    for (std::size_t j = i; j > 0 && key.words[j] < key.words[j - 1]; --j) std::swap(key.words[j], key.words[j - 1]);
  }
  return key;
}

}  // namespace linebounce::checker
