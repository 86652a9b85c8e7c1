// One run's PointData as a file: from the simulating process to the merging one, and for resuming an interrupted point. The
// file is binary, because formatting text would take more instructions than a short simulation. It has a line with the version,
// numbers as in memory, texts preceded by their length, and a checksum as its last line. Doubles keep all digits; rounding
// happens once, after seeds are merged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

// The first line. A file of another version is ignored, and its run simulated again.
constexpr std::string_view kSeedFileHead = "linebounce seed 2\n";

struct SeedFile {
  std::string hash;  // hash of the point's configuration
  double wall_s = 0;
  PointData data;
  std::string workload = {};  // these identify the point in results
  std::int64_t cpus = 0;
};

std::string write_seed_file(const SeedFile& file);

// Errors: InputError if the text is not such a file, or has another version.
SeedFile read_seed_file(std::string_view text);

}  // namespace linebounce::sim
