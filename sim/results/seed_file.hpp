// One run's PointData as a file: how the process that simulated hands it to the one that merges, and what an interrupted point
// goes on from. Doubles keep all their digits here; results are rounded once, after the seeds are merged. A JSON object, then a
// JSON array for each row of lines.csv (as a document of their own hundreds of thousands of them would be most of a run's
// memory), and the checksum of all that in the last line.
#pragma once

#include <string>
#include <string_view>

#include "sim/point/point_data.hpp"

namespace linebounce::sim {

struct SeedFile {
  std::string hash;  // of the point's configuration
  double wall_s = 0;
  PointData data;
};

std::string write_seed_file(const SeedFile& file);

// Errors: InputError when the text is no such file.
SeedFile read_seed_file(std::string_view text);

}  // namespace linebounce::sim
