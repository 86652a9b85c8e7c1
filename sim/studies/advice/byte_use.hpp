// Finds which threads read and write which bytes of a trace's objects, line by line, for several placements. Reads the
// operations a few times, but does not simulate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/point/simulation_input.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// The addresses at which a replay places the trace's objects.
struct ObjectPlaces {
  int line_bytes = 64;               // size of a coherence line
  std::vector<std::uint64_t> begin;  // by object: the address of its first byte; kNowhere if it is not placed
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
};

struct ThreadUse {
  std::uint32_t thread = 0;  // a stream; handlers count as the thread that they interrupt
  std::int64_t reads = 0, writes = 0;
};

// Bytes of an object that every access uses completely or not at all.
struct PieceUse {
  std::uint32_t object = 0;
  std::int64_t offset = 0, bytes = 0;
  std::vector<ThreadUse> threads;
};

struct LineUsers {
  std::uint64_t line = 0;        // its address, divided by the line size
  std::vector<PieceUse> pieces;  // by object and offset
};

// For each placement, the lines that several threads use and at least one of them writes, by address. A lock counts as a
// write of its word. Reads the operations twice, for any number of placements. Memory: a word for each 16 accessed bytes, and
// the uses of these lines. Leaves out what the program's first thread does before it creates another, or after all others
// have ended. Errors: trace::TraceError.
std::vector<std::vector<LineUsers>> lines_of_several_threads(const trace::Reader& reader,
                                                             std::span<const ObjectPlaces> placements);

// Where a replay would place the trace's objects on this machine, with the recorded locks and layouts and the replay's
// workload.heap_shift. Does not run the replay. Errors: std::invalid_argument, as for the replay.
ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input);

}  // namespace linebounce::sim
