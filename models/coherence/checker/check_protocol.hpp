// The model checker for a bus: visits every state that a few caches can reach with one line, and proves the protocol's
// properties or shows how one is violated. It runs the same functions of bus_order.hpp as the simulator.
//
// One line is enough, because no row depends on another line. Two values are enough to tell a stale copy from a fresh one.
// There is no time: any step that can happen next may happen next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/search_result.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

constexpr int kMaxCheckedCaches = 7;  // as many as fit into a state's 16 bytes

// With fewer caches some rows of a correct protocol can't run: two caches race while a third one snoops.
constexpr int kCachesForAllRows = 3;

struct CheckOptions {
  int caches = 3;          // 1 to kMaxCheckedCaches
  bool symmetry = true;    // states that differ only by renaming caches count once
  bool ask_absent = true;  // caches without a copy snoop messages that they ignore, too; the simulator skips them
  std::size_t memory_limit_mib = 2048;
};

enum class StepKind : std::uint8_t { load, store, atomic, evict, order, data };

// A step: an access by a cache's processor, or the order or data step of its request.
struct CheckStep {
  StepKind kind{};
  int cache = 0;
  std::uint8_t value = 0;  // the value that a store or atomic in this step writes
};

using Violation = CheckViolation<CheckStep>;

struct CheckResult : SearchResult<CheckStep> {
  // REQUIRES: `options` are those of the check.
  [[nodiscard]] bool proved(const CheckOptions& options) const {
    return !violation && (unreached.empty() || options.caches < kCachesForAllRows);
  }
};

// REQUIRES: options.caches is 1 to kMaxCheckedCaches. Errors: CheckTooLarge.
CheckResult check_protocol(const Protocol& protocol, const CheckOptions& options);

// Whether the protocol claims the property. Files declare single_writer and data_value; the others apply to all.
bool claims(const Protocol& protocol, Property property);

}  // namespace linebounce
