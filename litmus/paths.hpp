// What each thread of a test can do by itself: its paths, given the values that its loads may return.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "litmus/program.hpp"

namespace linebounce::sim::litmus {

// A set of events of one path, by number.
using PathEvents = std::uint64_t;
inline constexpr std::size_t kMostPathEvents = 64;

struct PathEvent {
  enum class Kind : std::uint8_t { read, write, fence } kind = Kind::fence;
  int variable = -1;  // -1: none
  Word value = 0;
  Tags tags = 0;
  int line = 0;  // of the file
  // The path's loads on which this event depends: its address, its value, or whether it happens at all. `pick`: a choice
  // between registers is on the way, which hardware may predict.
  PathEvents address = 0, data = 0, control = 0, pick_address = 0, pick_data = 0, pick_control = 0;
  int pairs_with = -1;        // a store of an atomic update: its load. The end of a critical section of RCU: its beginning
  bool is_exclusive = false;  // a store that is paired by a reservation, not in one instruction
};

struct Path {
  std::vector<PathEvent> events;
  std::vector<Word> registers;  // at the end
};

struct Paths {
  std::vector<std::vector<Path>> threads;
  bool has_cut_loops = false;      // paths that go round a loop more than twice were left out
  bool has_bad_addresses = false;  // paths that use a number as an address were left out
};

// Errors: std::invalid_argument, if there are too many.
Paths paths_of(const Program& program);

}  // namespace linebounce::sim::litmus
