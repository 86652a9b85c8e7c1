// A state of a bus with its caches and memory, and the state's encoding in 16 bytes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/controller_entry.hpp"

namespace linebounce::checker {

enum class Waiting : std::uint8_t { nothing, load, store, atomic };  // a cache's pending access

constexpr Waiting waiting_for(std::size_t event) {
  return event == kLoad ? Waiting::load : event == kStore ? Waiting::store : Waiting::atomic;
}
// The base event of the pending access. REQUIRES: `waiting` is not Waiting::nothing.
inline std::size_t event_of(Waiting waiting, const Protocol& bus) {
  return waiting == Waiting::load ? kLoad : waiting == Waiting::store ? kStore : bus.atomic;
}

struct ControllerWorld {
  ControllerEntry entry;              // for a controller on a bus, only the state is used
  std::uint8_t data = 0;              // the copy's value, 0 or 1; memory's value at memory and at a home
  Waiting access = Waiting::nothing;  // a cache's pending access
  std::uint8_t request = 0;           // on a bus: 1 + the id of the message that waits for its order step, or 0 for none
  bool data_due = false;              // on a bus: true if the request was ordered and its data step is due
  friend bool operator==(const ControllerWorld&, const ControllerWorld&) = default;
};

constexpr std::size_t kMaxMessages = 15;  // limited by the four bits of an encoded ControllerWorld::request

struct World {
  std::array<ControllerWorld, kMaxCheckedCaches> caches{};
  ControllerWorld memory;
  std::uint8_t bus_data = 0;  // the value on the data bus; 0 if no data step is due
  std::uint8_t latest = 0;    // used only by the property checks: the value written last

  [[nodiscard]] bool data_step_due() const {
    return std::any_of(caches.begin(), caches.end(), [](const ControllerWorld& cache) { return cache.data_due; });
  }
};

using CacheWord = std::uint16_t;

constexpr CacheWord pack(const ControllerWorld& cache) {
  return static_cast<CacheWord>(cache.entry.state | cache.data << 8 | static_cast<int>(cache.access) << 9 |
                                cache.request << 11 | static_cast<int>(cache.data_due) << 15);
}
constexpr ControllerWorld unpack_cache(CacheWord word) {
  return {.entry = {.state = static_cast<StateId>(word & 0xff)},
          .data = static_cast<std::uint8_t>(word >> 8 & 1),
          .access = static_cast<Waiting>(word >> 9 & 3),
          .request = static_cast<std::uint8_t>(word >> 11 & 15),
          .data_due = (word >> 15) != 0};
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
      static_cast<CacheWord>(world.memory.entry.state | world.memory.data << 8 | world.bus_data << 9 | world.latest << 10);
  return key;
}

inline World unpack(const Key& key) {
  World world;
  for (std::size_t i = 0; i < world.caches.size(); ++i) world.caches[i] = unpack_cache(key.words[i]);
  const CacheWord rest = key.words.back();
  world.memory.entry.state = static_cast<StateId>(rest & 0xff);
  world.memory.data = rest >> 8 & 1;
  world.bus_data = rest >> 9 & 1;
  world.latest = rest >> 10 & 1;
  return world;
}

// Throws Broken if the state of a cache violates a property that `subject` claims. for_caches(visit) calls visit(name, cache)
// for each cache, where name() is the cache with its state, for people; `on_bus` tells whether the caches are on buses.
template <class ForCaches>
void check_caches(const Protocol& subject, const ControllerTable& table, bool on_bus, std::uint8_t latest,
                  ForCaches for_caches) {
  const auto check_single_writer = [&](const auto& writer, const ControllerWorld& copy) {
    for_caches([&](const auto& other, const ControllerWorld& second) {
      const StateInfo& info = table.states[second.entry.state];
      if (&second == &copy || !info.readable) return;
      throw Broken{Property::single_writer,
                   fmt::format("{} can write while {} can {}", writer(), other(), info.writable ? "write too" : "read")};
    });
  };
  for_caches([&](const auto& name, const ControllerWorld& cache) {
    const StateInfo& info = table.states[cache.entry.state];
    if (subject.invariant_swmr && info.writable) check_single_writer(name, cache);
    if (subject.invariant_data_value && info.readable && cache.data != latest) {
      throw Broken{Property::data_value,
                   fmt::format("{} can read the value {}, but {} was written last", name(), cache.data, latest)};
    }
    const bool waits = cache.access != Waiting::nothing || !info.stable;
    const char* wrong = nullptr;
    if (on_bus && waits && cache.request == 0 && !cache.data_due) wrong = "waits, but no request of it is under way";
    if (cache.access != Waiting::nothing && info.stable) wrong = "has forgotten the access that waits";
    if (cache.request != 0 && info.stable) wrong = "has forgotten its request, which is still under way";
    if (wrong != nullptr) throw Broken{Property::accounted, fmt::format("{} {}", name(), wrong)};
  });
}

// True if the controller is in a stable state and nothing is pending.
inline bool is_quiescent(const ControllerWorld& controller, const ControllerTable& table) {
  return table.states[controller.entry.state].stable && controller.entry.acks == 0 && controller.access == Waiting::nothing &&
         controller.request == 0 && !controller.data_due;
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
