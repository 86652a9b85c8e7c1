// What a thread does from one look at a lock to the next while it waits for it, as far as operations tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// At most 32 operations and 1000 instructions or cycles, with no store to anything but a stack.
class TurnOfWait {
 public:
  explicit TurnOfWait(const Symbols& symbols);

  // A look at the lock: the next turn.
  void begin();
  // Takes the turn's next operation. Returns false if a thread that only waits would not do it.
  bool may_have(const Operation& operation);
  // The functions that the turn has entered are those that it has left.
  [[nodiscard]] bool ends_where_it_began() const { return depth_ == 0; }
  // Loads of anything but a stack.
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
