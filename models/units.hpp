// The quantities that must not be mixed up, each a type of its own. No SystemC here.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace linebounce {

// An integer that converts to nothing else by itself.
template <class Tag, class Representation>
struct Strong {
  Representation value{};
  constexpr Strong() = default;
  constexpr explicit Strong(Representation v) : value(v) {}
  friend constexpr auto operator<=>(Strong, Strong) = default;
};

// Simulated time in base ticks: an integer, see models/clock.hpp for its length. A difference of times has the same type.
using Tick = std::int64_t;
constexpr Tick kNever = std::numeric_limits<Tick>::max();

// A byte's address.
using Address = std::uint64_t;

// A coherence line's number: its address divided by the coherence line's size.
using LineAddr = Strong<struct LineAddrTag, std::uint64_t>;

// What a load returns and a store writes: up to 8 bytes, zero-extended.
using Value = std::uint64_t;

// A hardware thread, counted from 0 over the whole machine.
using CpuId = Strong<struct CpuIdTag, int>;

// A NUMA node, counted from 0.
using NodeId = Strong<struct NodeIdTag, int>;

}  // namespace linebounce
