// A report of `perf c2c report --stdio`: cache lines with their offsets, counted in samples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/sources/losses.hpp"

namespace linebounce::sim {

// What one place of the code does at one offset of a line.
struct C2cUse {
  std::uint64_t offset = 0;                                               // in the line
  std::string function;                                                   // empty: not told
  std::string object;                                                     // the program or library
  double remote_hitm = 0, local_hitm = 0, stores = 0;                     // samples: shares of the line's
  double remote_hitm_cycles = 0, local_hitm_cycles = 0, load_cycles = 0;  // means; 0: none
  std::vector<int> cpus = {};                                             // empty: not told
  std::vector<int> nodes = {};
};

struct C2cLine {
  std::uint64_t address = 0;
  std::int64_t remote_hitm = 0, local_hitm = 0, stores = 0;  // samples
  std::optional<int> home;
  std::vector<C2cUse> uses;
};

struct C2cReport {
  std::vector<C2cLine> lines;  // in the report's order
  Losses losses;
};

// Errors: trace::TraceError with the line; if the text has no lines, such as of --stats.
C2cReport read_c2c_report(const std::filesystem::path& file);

}  // namespace linebounce::sim
