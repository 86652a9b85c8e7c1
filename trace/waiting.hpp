// The operations between two reads of a lock by a thread that waits for it, as far as a trace shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// At most 32 operations and 1000 instructions or cycles, and stores to stacks only.
class TurnOfWait {
 public:
  explicit TurnOfWait(const Symbols& symbols);

  // Begins the next turn, with a read of the lock.
  void begin();
  // Takes the turn's next operation. Returns false if a thread that only waits would not do it.
  bool may_have(const Operation& operation);
  // Whether the turn has left all functions that it entered.
  [[nodiscard]] bool ends_where_it_began() const { return depth_ == 0; }
  // Loads from anywhere but a stack.
  [[nodiscard]] std::size_t shared_loads() const { return shared_loads_; }
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  std::vector<bool> is_stack_;  // by object
  std::size_t operations_ = 0, shared_loads_ = 0;
  std::uint64_t instructions_ = 0, cycles_ = 0;
  int depth_ = 0;
};

}  // namespace linebounce::trace
