// The footprint of code and pages of one core: which pages its data TLB knows, and which lines of code are near. It knows
// functions, not instructions: a function is a run of bytes that execution goes through from its beginning, and again when it
// comes to the end. What is missing takes a fixed time, in which the core waits; no other core sees anything of it, so it is
// exact under run-ahead. The core's hardware threads share both, and ask in the order of time (HardwareThread::wait_turn).
//
// Left out: who else is in the L2 that serves the misses, prefetching of code, the instruction TLB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/core/cpu_counters.hpp"
#include "models/machine_spec.hpp"
#include "models/units.hpp"

namespace linebounce {

// Numbers in sets, the least recently used of a set makes room. The real parts approximate LRU by a tree of bits.
class RecentlyUsed {
 public:
  RecentlyUsed(int entries, int ways);
  // Whether it was there; it is from now on.
  bool use(std::uint64_t number);
  // It is there no more, if it was.
  void drop(std::uint64_t number);
  void drop_all();

 private:
  std::size_t ways_;
  std::size_t sets_;
  std::vector<std::uint64_t> numbers_;  // set by set, the most recently used first
};

class Footprint {
 public:
  Footprint(const FootprintSpec& spec, Tick cycle, int threads);

  // `user`: which functions are user code. REQUIRES: called before any other.
  void set_functions(std::size_t count, std::span<const FunctionId> user);
  // The thread goes through this function's code from its beginning.
  void enter(int thread, FunctionId function);

  // How long it takes to translate the address / to fetch the function's next instructions, beyond what a hit does. A
  // computation that is longer than its function's code fetches each line once: it repeats loops whose code is there.
  Tick translate(Address address, FootprintMisses& misses);
  // Translations that the TLB knows no more.
  void drop_pages(Address first, std::int64_t pages);
  void drop_all_pages() { pages_.drop_all(); }
  Tick fetch(int thread, FunctionId function, std::int64_t instructions, FootprintMisses& misses);

 private:
  struct Code {
    std::uint64_t first_line = 0;
    std::int64_t lines = 1;
  };

  FootprintSpec spec_;
  Tick page_miss_;
  Tick code_miss_;
  RecentlyUsed pages_;
  RecentlyUsed lines_;
  std::vector<Code> code_;                           // by FunctionId: one behind the other, as a linker places them
  std::vector<std::vector<std::int64_t>> position_;  // [thread][function]: the next instruction's byte
};

}  // namespace linebounce
