// Which threads read and write which bytes of a trace's objects, line by line of some placements. No simulation:
// passes over the operations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/point/simulation_input.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// Where a replay puts the trace's objects.
struct ObjectPlaces {
  int line_bytes = 64;               // coherence line
  std::vector<std::uint64_t> begin;  // by object: the address of its first byte; kNowhere: it is not placed
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
};

struct ThreadUse {
  std::uint32_t thread = 0;  // a stream; handlers count as what they interrupt
  std::int64_t reads = 0, writes = 0;
};

// Bytes of an object that are used as one: no access reaches over their ends.
struct PieceUse {
  std::uint32_t object = 0;
  std::int64_t offset = 0, bytes = 0;
  std::vector<ThreadUse> threads;
};

struct LineUsers {
  std::uint64_t line = 0;        // its address, in lines
  std::vector<PieceUse> pieces;  // by object and offset
};

// Of each placement the lines that several threads use and one at least writes, by address. Locks count as writes of their
// words. Two passes over the operations, however many placements. Memory: a word for each 16 bytes that somebody touches, and
// the uses of these lines. What a program's first thread does before it creates another, or after all have ended, is left out.
// Errors: trace::TraceError.
std::vector<std::vector<LineUsers>> lines_of_several_threads(const trace::Reader& reader,
                                                             std::span<const ObjectPlaces> placements);

// Where a replay puts a trace's objects, without running it: on this machine, with the recorded locks and layouts and the
// replay's workload.heap_shift. Errors: std::invalid_argument, as the replay itself.
ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input);

}  // namespace linebounce::sim
