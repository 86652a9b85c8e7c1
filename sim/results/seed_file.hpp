// One run's PointData as a file, by which the simulating process passes it to the merging one, and from which an interrupted
// point resumes. It is binary, because results as text take more instructions than a short simulation: a line with the version,
// numbers as in memory, texts after their length, and a checksum in the last line. Doubles keep all their digits here; results
// are rounded once, after the seeds are merged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

// A file of another version is no seed file: its run is simulated again.
constexpr std::string_view kSeedFileHead = "linebounce seed 2\n";

struct SeedFile {
  std::string hash;  // hash of the point's configuration
  double wall_s = 0;
  PointData data;
  std::string workload = {};  // the point's, which its results name; likewise its CPUs
  std::int64_t cpus = 0;
};

std::string write_seed_file(const SeedFile& file);

// Errors: InputError if the text is no such file, or one of another version.
SeedFile read_seed_file(std::string_view text);

}  // namespace linebounce::sim
