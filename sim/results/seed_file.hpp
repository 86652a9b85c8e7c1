// One run's PointData as a file, by which the simulating process passes it to the merging one, and from which an interrupted
// point resumes. Doubles keep all their digits here; results are rounded once, after the seeds are merged. The file has a JSON
// object, then a JSON array for each row of lines.csv (a single document with hundreds of thousands of rows would take most of
// a run's memory), and their checksum in the last line.
#pragma once

#include <string>
#include <string_view>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

struct SeedFile {
  std::string hash;  // hash of the point's configuration
  double wall_s = 0;
  PointData data;
};

std::string write_seed_file(const SeedFile& file);

// Errors: InputError if the text is no such file.
SeedFile read_seed_file(std::string_view text);

}  // namespace linebounce::sim
