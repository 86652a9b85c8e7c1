// Estimates the cost of a cache line with some members of a structure. Goes through a replay's accesses in order and counts
// those that would find the line in another CPU's cache. This is much faster than a replay and serves to rank layouts;
// replays then judge the best of them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "commands/layout/structure_accesses.hpp"

namespace linebounce::sim {

// A unit on a line. `begin`: its offset from the line's first byte; negative if it begins on an earlier line.
struct UnitOnLine {
  std::size_t unit = 0;
  int begin = 0;
};

class SharedLineCosts {
 public:
  // REQUIRES: `accesses` outlives this object. `near_lines`: how many lines a CPU's nearest caches hold. After that many
  // other accesses, the CPU must fetch the line again.
  SharedLineCosts(const StructureAccesses& accesses, int line_bytes, std::size_t near_lines);

  // In transfers between caches.
  double of(const std::vector<UnitOnLine>& line);
  // The cost of a layout whose objects begin at a line. `begins`: each unit's offset; -1 leaves the unit out.
  double of_layout(const std::vector<int>& begins);
  [[nodiscard]] int line_bytes() const { return line_bytes_; }

 private:
  double simulated(const std::vector<UnitOnLine>& line);

  // One CPU's accesses to the line of one object.
  struct Own {
    std::uint32_t at = 0, wrote_at = 0;  // time, 0: never
    std::uint32_t own_time = 0;          // as `at`, but counted in this CPU's accesses
  };
  // The latest access (or write) of an object, and the latest one by another CPU: the time and CPU of each.
  struct Latest {
    std::uint32_t at[2] = {};
    int cpu[2] = {-1, -1};
    void add(int by, std::uint32_t now) {
      if (cpu[0] != by) {
        at[1] = at[0];
        cpu[1] = cpu[0];
      }
      at[0] = now;
      cpu[0] = by;
    }
    [[nodiscard]] std::uint32_t by_others(int than) const { return cpu[0] == than ? at[1] : at[0]; }
  };

  const StructureAccesses& accesses_;
  int line_bytes_;
  std::size_t near_lines_;
  std::vector<Own> own_;                   // by object and CPU
  std::vector<Latest> touched_, written_;  // by object
  std::map<std::vector<std::pair<std::size_t, int>>, double> known_;
};

}  // namespace linebounce::sim
