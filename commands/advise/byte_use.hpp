// Finds which threads read and write which bytes of a trace's objects, line by line, for several placements. Only reads the
// operations, without simulating them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/point/simulation_input.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// The virtual addresses at which a replay places the trace's objects. Which bytes share a line does not depend on frames.
struct ObjectPlaces {
  int line_bytes = 64;               // size of a coherence line
  std::vector<std::uint64_t> begin;  // by object; kNowhere if it is not placed
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
};

struct ThreadUse {
  std::uint32_t thread = 0;  // a stream's number; a handler counts as the thread that it interrupts
  std::int64_t reads = 0, writes = 0;
};

// Bytes of an object. Each access covers all of them or none.
struct PieceUse {
  std::uint32_t object = 0;
  std::int64_t offset = 0, bytes = 0;
  std::vector<ThreadUse> threads;
};

struct LineUsers {
  std::uint64_t line = 0;        // the line's virtual address, divided by the line size
  std::vector<PieceUse> pieces;  // by object and offset
};

// Returns, for each placement, the lines that several threads use and at least one writes, by address. Acquiring or releasing
// a lock counts as a write of its word. Ignores what the program's first thread does while it is alone. Reads the operations
// twice, for any number of placements. Memory: a word for each 16 accessed bytes, and the uses of these lines. Errors:
// trace::TraceError.
std::vector<std::vector<LineUsers>> lines_of_several_threads(const trace::Reader& reader,
                                                             std::span<const ObjectPlaces> placements);

// Computes where a replay would place the trace's objects on this machine, with the recorded locks and layouts and the
// input's workload.heap_shift. Does not run the replay. Errors: std::invalid_argument, as for the replay.
ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input);

}  // namespace linebounce::sim
