// The model checker: visits every state that a few caches on one bus can reach with one line, and says whether the protocol
// keeps what it promises. It runs the very functions of bus_order.hpp that the simulator runs, so what is proved is what runs.
//
// One line is enough: no row looks at another line, and the bus orders each line's messages by themselves. Two values are
// enough to tell a stale copy from a fresh one. Time is left out: whatever can happen next may happen next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/coherence/bus_order.hpp"
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

enum class Promise : std::uint8_t {
  single_writer,    // where one cache can write, no other can read
  data_value,       // a copy that is read, or written in part, has the value written last
  impossible_pair,  // no pair of state and event that the table calls impossible
  one_supplier,     // one controller drives the data bus in an order step
  data_arrives,     // a requestor that waits for data has a supplier
  accounted,        // every access and every request that waits is waited for, by exactly one state
  no_deadlock,      // in every state something can change
  can_finish,       // from every state there is a way to one in which nothing waits
};
constexpr std::size_t kPromises = 8;

enum class StepKind : std::uint8_t { load, store, evict, order, data };

// What happened next: an access by a cache's processor, or the order or data step of its request.
struct CheckStep {
  StepKind kind{};
  int cache = 0;
  std::uint8_t value = 0;  // what a store that runs in this step writes
};

struct Violation {
  Promise promise{};
  std::string text;
  std::vector<CheckStep> steps;  // from the initial state; no shorter sequence breaks anything
};

struct UnreachedRow {
  Controller controller{};
  StateId state = 0;
  EventId event = 0;
  int source_line = 0;
};

struct CheckResult {
  std::size_t states = 0;
  std::size_t steps = 0;                // tried, from all states together
  int depth = 0;                        // steps to the state farthest from the initial one
  std::optional<Violation> violation;   // then states, steps and depth are as far as it got
  std::vector<UnreachedRow> unreached;  // rows that never ran; empty after a violation

  // REQUIRES: `options` are those of the check.
  [[nodiscard]] bool proved(const CheckOptions& options) const {
    return !violation && (unreached.empty() || options.caches < kCachesForAllRows);
  }
};

// More states than the memory limit has room for, or a table larger than a state can encode: nothing is proved. what() is for
// a user.
class CheckTooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// REQUIRES: options.caches is 1 to kMaxCheckedCaches. Errors: CheckTooLarge.
CheckResult check_protocol(const Protocol& protocol, const CheckOptions& options);

// Whether this protocol promises it: single_writer and data_value are declared in its file, the others hold for all.
bool promises(const Protocol& protocol, Promise promise);

}  // namespace linebounce
