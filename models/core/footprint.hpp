// One core's data TLB and instruction cache. The model knows functions, not instructions: a function is a run of bytes that
// execution goes through from the beginning to the end, and over again. Each miss stalls the thread for a fixed time. No other
// core can observe that, so it is exact under run-ahead. The core's hardware threads share both structures and look things up
// in the order of time (HardwareThread::wait_turn).
//
// Not modelled: contention for the L2 that serves the misses, prefetching of code, the instruction TLB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/core/cpu_counters.hpp"
#include "models/machine_spec.hpp"
#include "models/units.hpp"

namespace linebounce {

// A set-associative table of numbers with LRU replacement, which hardware approximates by a tree of bits.
class RecentlyUsed {
 public:
  RecentlyUsed(int entries, int ways);
  // Inserts the number if it is missing. True if it was present.
  bool use(std::uint64_t number);
  // Removes the number if it is present.
  void drop(std::uint64_t number);
  void drop_all();

 private:
  // The set of this number.
  [[nodiscard]] std::span<std::uint64_t> set_of(std::uint64_t number) {
    return std::span(numbers_).subspan(number % sets_ * ways_, ways_);
  }

  std::size_t ways_;
  std::size_t sets_;
  std::vector<std::uint64_t> numbers_;  // set by set, the most recently used first
};

class Footprint {
 public:
  Footprint(const FootprintSpec& spec, Tick cycle, int threads);

  // `user`: the functions that are user code. REQUIRES: called before all other functions.
  void set_functions(std::size_t count, std::span<const FunctionId> user);
  // The thread begins to execute this function's code.
  void enter(int thread, FunctionId function);

  // Stall time of a translation, and of fetching a function's next instructions. A computation longer than its function's code
  // fetches each line once, as it repeats loops whose code has been fetched.
  Tick translate(Address address, FootprintMisses& misses);
  Tick fetch(int thread, FunctionId function, std::int64_t instructions, FootprintMisses& misses);
  // Invalidates translations.
  void drop_pages(Address first, std::int64_t pages);
  void drop_all_pages() { pages_.drop_all(); }

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
  std::vector<Code> code_;                           // by FunctionId, contiguous as a linker places them
  std::vector<std::vector<std::int64_t>> position_;  // [thread][function]: offset of the next instruction
};

}  // namespace linebounce
