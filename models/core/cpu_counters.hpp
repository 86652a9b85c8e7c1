// A hardware thread's counters, one set for each function of its program. Plain integers, because every hit updates them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/machine_spec.hpp"
#include "models/observer.hpp"
#include "models/ordinal.hpp"
#include "models/units.hpp"

namespace linebounce {

struct FunctionCounters {
  std::int64_t instructions = 0;
  std::int64_t misses = 0;
  std::array<std::array<std::int64_t, kAccessKinds>, kMostLevels> hits{};  // indexed by [level][kind of access]
  std::array<std::int64_t, kMostLevels>
      hidden{};  // load hits, by level, that cost no time of their own: overlapped or in a spin
  std::int64_t& hits_of(int level, AccessKind kind) { return hits[level][static_cast<int>(kind)]; }
};

// A thread's misses in its core's data TLB and instruction cache (models/core/footprint.hpp).
struct FootprintMisses {
  std::int64_t pages = 0;
  std::int64_t code_lines = 0;
};

// The parts of a CPI stack. They split a hardware thread's time by what the thread waits for. A store that misses costs one
// cycle of `issue` if the store buffer has room, because the thread goes on.
enum class TimePart : std::uint8_t {
  issue,  // executing instructions; whatever no other part claims
  l1,     // load hits, by the cache level that serves them
  l2,
  l3,
  l4,
  local_c2c,  // waiting for a line or for the right to write it; in the order of `Source`
  local_memory,
  remote_memory,
  remote_c2c,
  node_cache,
  upgrade,
  // An atomic operation on a line that the core has, or a wait until a sibling's atomic operation unlocks the line.
  atomic,
  store_buffer,  // a store waits because the store buffer is full
  fence,         // a fence, an atomic or a load waits until earlier stores have drained
  footprint,     // fetching code and translating addresses
  spin,          // a spin loop, with its misses, from the first time that its condition did not hold
  sleep,
  ended  // from the end of the program to the end of the measured time
};
constexpr int kTimeParts = 18;
static_assert(ordinal(TimePart::ended) + 1 == kTimeParts);

constexpr TimePart part_of_level(int level) {
  return static_cast<TimePart>(static_cast<int>(TimePart::l1) + level);
}
constexpr TimePart part_of(Source source) {
  return static_cast<TimePart>(static_cast<int>(TimePart::local_c2c) + static_cast<int>(source));
}
static_assert(part_of_level(kMostLevels - 1) == TimePart::l4);
static_assert(part_of(Source::upgrade) == TimePart::upgrade);

using TimeParts = std::array<Tick, kTimeParts>;  // indexed by TimePart

// A thread's counters. The vectors are indexed by FunctionId.
struct ThreadCounters {
  std::vector<FunctionCounters> by_function;
  std::vector<Tick> time_in_function;  // ticks within the measured time, sleep excluded
  // Ticks within the measured time in which the thread waited; time_parts() computes the rest.
  std::vector<TimeParts> waits;
  std::vector<FootprintMisses> footprint;  // empty if the machine has no Footprint

  [[nodiscard]] Tick asleep() const {
    Tick ticks = 0;
    for (const TimeParts& of : waits) ticks += of[ordinal(TimePart::sleep)];
    return ticks;
  }
};

// Splits a function's time, sleep included, into its parts: its waits, its load hits at `hit_latency` by level, and the rest,
// which is `issue`. The parts add up to that time exactly. `ended` is 0: it belongs to no function.
TimeParts time_parts(const ThreadCounters& counters, FunctionId function, std::span<const Tick> hit_latency);

}  // namespace linebounce
