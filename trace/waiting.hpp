// Decides whether a thread only waits for a lock: looks at its operations between two reads of the lock's word (a turn).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// A turn of pure waiting has at most 32 operations, and 1000 instructions or cycles; it stores only to the stack. Where the
// recorder measured time instead of counting instructions (has_measured_instructions()), one turn in ten may take longer: the
// host may have used the processor for something else.
class TurnOfWait {
 public:
  TurnOfWait(const Symbols& symbols, bool is_time_measured);

  // Begins the first turn of a wait.
  void begin_wait();
  // Begins the next turn, after a read of the lock.
  void begin();
  // Takes the turn's next operation. Returns false if a thread that only waits would not execute it.
  bool may_have(const Operation& operation);
  // Whether few enough of the wait's turns took long.
  [[nodiscard]] bool is_mostly_short() const;
  // Whether all functions that the turn entered were left again.
  [[nodiscard]] bool ends_where_it_began() const { return depth_ == 0; }
  // The number of loads from memory other than a stack.
  [[nodiscard]] std::size_t shared_loads() const { return shared_loads_; }
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  [[nodiscard]] bool takes_long() const;

  std::vector<bool> is_stack_;  // by object
  bool is_time_measured_;
  std::uint64_t turns_ = 0, long_turns_ = 0;  // of this wait, before this turn
  std::size_t operations_ = 0, shared_loads_ = 0;
  std::uint64_t instructions_ = 0, cycles_ = 0;
  int depth_ = 0;
};

}  // namespace linebounce::trace
