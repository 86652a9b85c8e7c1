// What the recorded program did after each failed try of a lock: it waited and tried again, or it went another way.
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
  std::uint64_t waits = 0, other_ways = 0;  // how often a failed try was followed by a wait, and by something else
  bool waits_in_the_end = false;            // some failed tries were followed by an acquisition that waits
  // Time between a failed try and the next, from the first wait that has any. A recorder of real programs sees no pause, no
  // yield and no sleep: of its traces the gap is not known.
  bool gap_known = false;
  std::uint64_t gap_instructions = 0, gap_cycles = 0;

  // The program mostly decides by the outcome of a try.
  [[nodiscard]] bool decides() const { return other_ways > waits; }
};

class RecordedTries {
 public:
  // By one pass over the operations. A handler's failed tries go another way: it cannot wait for what it interrupts. Errors:
  // trace::TraceError.
  explicit RecordedTries(const trace::Reader& reader);

  // A thread's failed try, operation number `operation` of `stream`, that begins a wait: the number of the operation that has
  // the lock in the end, a try or an acquisition. Between them are only failed tries and gaps.
  [[nodiscard]] std::optional<std::uint64_t> end_of_wait(std::uint32_t stream, std::uint64_t operation) const;
  [[nodiscard]] const TryHabit& habit(const trace::Lock& lock) const { return habits_.at(lock.counted_as()); }

 private:
  void add_stream(const trace::Reader& reader, std::uint32_t stream);

  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> waits_;  // by stream: first and last operation, in order
  std::map<std::string, TryHabit> habits_;                                   // by Lock::counted_as()
};

}  // namespace linebounce::workloads
