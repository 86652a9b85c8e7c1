// The model checker: visits every state that a few caches on one bus can reach with one line, and says whether the protocol
// keeps what it properties. It runs the very functions of bus_order.hpp that the simulator runs, so what is proved is what
// runs.
//
// One line is enough: no row looks at another line, and the bus orders each line's messages by themselves. Two values are
// enough to tell a stale copy from a fresh one. Time is left out: whatever can happen next may happen next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/search_result.hpp"
#include "models/coherence/protocol.hpp"

namespace linebounce {

constexpr int kMaxCheckedCaches = 7;  // a state has 16 bytes

// With fewer caches some rows of a correct protocol can't run: two caches that race, and one that looks on.
constexpr int kCachesForAllRows = 3;

struct CheckOptions {
  int caches = 3;          // 1 to kMaxCheckedCaches
  bool symmetry = true;    // states that differ only in which cache is which count once
  bool ask_absent = true;  // also ask caches without a copy about messages at which they do nothing; the simulator doesn't
  std::size_t memory_limit_mib = 2048;
};

enum class StepKind : std::uint8_t { load, store, atomic, evict, order, data };

// What happened next: an access by a cache's processor, or the order or data step of its request.
struct CheckStep {
  StepKind kind{};
  int cache = 0;
  std::uint8_t value = 0;  // what a store or atomic operation that runs in this step writes
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

// Whether this protocol properties it: single_writer and data_value are declared in its file, the others hold for all.
bool properties(const Protocol& protocol, Property property);

}  // namespace linebounce
