// What the recorded program did after each failed try of a lock: it waited and tried again, or it took another path.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/reader.hpp"

namespace linebounce::workloads {

// How a program tries one lock, or all locks that are counted with it.
struct TryHabit {
  std::uint64_t waits = 0, other_ways = 0;  // how often a failed try was followed by a wait, and by another path
  bool waits_in_the_end = false;            // true if some failed tries were followed by an acquisition that waits
  // The time between a failed try and the next, from the first wait that has a gap. A recorder of real programs sees no pause,
  // yield or sleep, so in its traces the gap is not known.
  bool gap_known = false;
  std::uint64_t gap_instructions = 0, gap_cycles = 0;

  // Whether the program mostly branches on the outcome of a try.
  [[nodiscard]] bool decides() const { return other_ways > waits; }
};

class RecordedTries {
 public:
  // Makes one pass over the operations. A handler's failed tries always take another path, because a handler cannot wait for
  // the program that it interrupts. Errors: trace::TraceError.
  explicit RecordedTries(const trace::Reader& reader);

  // If the failed try, operation `operation` of `stream`, begins a wait, returns the number of the operation that finally
  // gets the lock: a try or an acquisition. Only failed tries and gaps lie in between.
  [[nodiscard]] std::optional<std::uint64_t> end_of_wait(std::uint32_t stream, std::uint64_t operation) const;
  [[nodiscard]] const TryHabit& habit(const trace::Lock& lock) const { return habits_.at(lock.counted_as()); }

 private:
  void add_stream(const trace::Reader& reader, std::uint32_t stream);

  // by stream: first and last operation of each wait, in order
  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> waits_;
  std::map<std::string, TryHabit> habits_;  // by Lock::counted_as()
};

}  // namespace linebounce::workloads
