// One core's data TLB and instruction cache. The model has no real instructions: a function's code is a range of bytes that
// execution reads from beginning to end, over and over. Each miss stalls the thread for a fixed time. No other core can observe
// a stall, so the model gives the same results with and without run-ahead. The core's hardware threads share both structures
// and access them in the order of simulated time (HardwareThread::wait_turn).
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

// A set-associative table of page or line numbers, with LRU replacement. Hardware approximates LRU with a tree of bits.
class RecentlyUsed {
 public:
  RecentlyUsed(int entries, int ways);
  // Makes the number the most recently used one, and inserts it if it is missing. Returns true if it was present.
  bool use(std::uint64_t number);
  // Removes the number if it is present.
  void drop(std::uint64_t number);
  void drop_all();

 private:
  // Returns the entries of the set that may hold `number`.
  [[nodiscard]] std::span<std::uint64_t> set_of(std::uint64_t number) {
    return std::span(numbers_).subspan(number % sets_ * ways_, ways_);
  }

  std::size_t ways_;
  std::size_t sets_;
  std::vector<std::uint64_t> numbers_;  // all sets' entries, set by set; in each set, the most recently used first
};

class Footprint {
 public:
  Footprint(const FootprintSpec& spec, Tick cycle, int threads);

  // `user`: the functions that are user code. REQUIRES: called before all other functions of this class.
  void set_functions(std::size_t count, std::span<const FunctionId> user);
  // The thread begins to execute this function's code from its first byte.
  void enter(int thread, FunctionId function);

  // translate() returns the stall time for translating an address, fetch() that for fetching a function's next instructions.
  // If `instructions` are more than the function's code has, fetch() reads each line of the code once: the thread then loops
  // in fetched code.
  Tick translate(Address address, FootprintMisses& misses);
  Tick fetch(int thread, FunctionId function, std::int64_t instructions, FootprintMisses& misses);
  // Removes these pages from the TLB.
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
  std::vector<Code> code_;  // each function's code, by FunctionId; the functions are adjacent in memory
  std::vector<std::vector<std::int64_t>> position_;  // [thread][function]: byte offset of the next instruction
};

}  // namespace linebounce
