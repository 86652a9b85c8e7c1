// Strong types for quantities that must not be mixed up.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace linebounce {

// An integer without implicit conversions.
template <class Tag, class Representation>
struct Strong {
  Representation value{};
  constexpr Strong() = default;
  constexpr explicit Strong(Representation v) : value(v) {}
  friend constexpr auto operator<=>(Strong, Strong) = default;
};

// A simulated time or duration, in ticks (models/timebase.hpp).
using Tick = std::int64_t;
constexpr Tick kNever = std::numeric_limits<Tick>::max();

// A byte's address.
using Address = std::uint64_t;

// A coherence line's number: its address divided by the coherence line's size.
using LineAddr = Strong<struct LineAddrTag, std::uint64_t>;

// The value of a word that a load returns or a store writes: up to 8 bytes, zero-extended.
using Value = std::uint64_t;

// A hardware thread's number in the machine, from 0.
using CpuId = Strong<struct CpuIdTag, int>;

// A NUMA node's number, from 0.
using NodeId = Strong<struct NodeIdTag, int>;

}  // namespace linebounce
