// The model checker for a bus. It visits every state that a few caches can reach with one line. This proves the protocol's
// properties, or shows how one is violated. The checker runs the same functions of bus_order.hpp as the simulator.
//
// One line is enough, because no row depends on another line. Two values are enough to tell a stale copy from a fresh one. Time
// is not modeled: in every state, any of the possible steps may be the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/search_result.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

constexpr int kMaxCheckedCaches = 7;  // the most that fit into the 16 bytes of an encoded state

// The fewest caches with which every row of a correct protocol can run: for some rows, two caches must race while a third
// snoops.
constexpr int kCachesForAllRows = 3;

struct CheckOptions {
  int caches = 3;        // 1 to kMaxCheckedCaches
  bool symmetry = true;  // true: states that differ only in how the caches are numbered count as one
  // True to also let caches without a copy snoop messages that they would ignore; the simulator skips those snoops.
  bool ask_absent = true;
  std::size_t memory_limit_mib = 2048;
};

enum class StepKind : std::uint8_t { load, store, atomic, evict, order, data };

// One step: an access by a cache's processor, or the order step or data step of that cache's request.
struct CheckStep {
  StepKind kind{};
  int cache = 0;
  std::uint8_t value = 0;  // the value that a store or atomic in this step writes
};

using Violation = CheckViolation<CheckStep>;

struct CheckResult : SearchResult<CheckStep> {
  // True if no property is violated, and either every row ran or there were too few caches for all rows. REQUIRES: `options`
  // are those that check_protocol() was called with.
  [[nodiscard]] bool proved(const CheckOptions& options) const {
    return !violation && (unreached.empty() || options.caches < kCachesForAllRows);
  }
};

// True if an access and the messages that it issues are one step. This needs an atomic bus, and a protocol whose caches have
// no state in which they wait for the bus. With such states, messages on an atomic bus wait to be ordered; only their data
// comes at once.
inline bool orders_at_once(const Protocol& protocol) {
  const auto& states = protocol.cache.states;
  return protocol.bus == BusKind::atomic &&
         std::all_of(states.begin(), states.end(), [](const StateInfo& state) { return state.stable; });
}

// The limit on transactions of one access on such a bus. A Dragon store that misses takes two: one for the line, one for its
// word.
constexpr int kMostTransactionsAtOnce = 4;

// REQUIRES: options.caches is 1 to kMaxCheckedCaches. Errors: CheckTooLarge.
CheckResult check_protocol(const Protocol& protocol, const CheckOptions& options);

// Whether the protocol must have the property. A protocol's file declares whether single_writer and data_value hold; every
// protocol must have the other properties.
bool claims(const Protocol& protocol, Property property);

}  // namespace linebounce
