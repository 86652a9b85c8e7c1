// Reads the report of `perf c2c report --stdio`: cache lines and their offsets, with numbers of samples. The report of
// `--stats` has only totals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forms/import_losses.hpp"

namespace linebounce::sim {

// Accesses by one place in the code to one offset of a line.
struct C2cUse {
  std::uint64_t offset = 0;  // within the line
  std::string function;      // empty: not stated
  std::string object;        // program or library
  // Numbers of samples, computed from percentages of the line's counts.
  double remote_hitm = 0, local_hitm = 0, stores = 0;
  double remote_hitm_cycles = 0, local_hitm_cycles = 0, load_cycles = 0;  // means; 0: none
  std::vector<int> cpus = {};                                             // empty: not stated
  std::vector<int> nodes = {};
};

struct C2cLine {
  std::uint64_t address = 0;
  std::int64_t remote_hitm = 0, local_hitm = 0, stores = 0;  // samples
  std::optional<int> home;
  std::vector<C2cUse> uses;
};

// A total of the whole recording: "Load Local HITM".
struct C2cCount {
  std::string name;
  std::int64_t samples = 0;
  bool of_shared_lines = false;  // instead of all lines
};

struct C2cReport {
  std::vector<C2cLine> lines;    // in the report's order; empty: the report is that of --stats
  std::vector<C2cCount> counts;  // in the report's order; empty: the report lacks this part
  Losses losses;

  // The total of this name; 0 if the report lacks it.
  [[nodiscard]] std::int64_t count_of(std::string_view name) const;
};

// Errors: trace::TraceError with the line; also if the text has neither lines nor totals.
C2cReport read_c2c_report(const std::filesystem::path& file);

}  // namespace linebounce::sim
