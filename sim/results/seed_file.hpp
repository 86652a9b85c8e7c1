// One run's PointData as a file. The simulating process hands its result to the merging process in this form, and an
// interrupted point resumes from it. The file is binary, because writing text would take more instructions than a short
// simulation: a line with the version, numbers as in memory, texts preceded by their length, and a checksum in the last line.
// Doubles keep all their digits; results are rounded once, after seeds are merged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

// A file of another version is not accepted as a seed file, so its run is simulated again.
constexpr std::string_view kSeedFileHead = "linebounce seed 2\n";

struct SeedFile {
  std::string hash;  // hash of the point's configuration
  double wall_s = 0;
  PointData data;
  std::string workload = {};  // the point's workload, which results name; likewise its CPUs
  std::int64_t cpus = 0;
};

std::string write_seed_file(const SeedFile& file);

// Errors: InputError if the text is not such a file, or has another version.
SeedFile read_seed_file(std::string_view text);

}  // namespace linebounce::sim
