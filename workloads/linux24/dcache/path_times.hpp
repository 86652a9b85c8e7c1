// What a path walk does that no memory operation here stands for. Times vary.
#pragma once

#include "workloads/program/times.hpp"

namespace linebounce::workloads {

struct PathCosts {  // mean cycles
  std::int64_t component = 0;
  std::int64_t follow = 0;
};

// One CPU's.
class PathTimes {
 public:
  PathTimes(const PathCosts& costs, const Random& random) : costs_(costs), random_(random) {}

  // Permission, and the hash of the name.
  void before_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.component); }
  // Mounts and links, up to the dput of the directory before.
  void after_lookup(Cpu& cpu) { compute_about(cpu, random_, costs_.follow); }

 private:
  PathCosts costs_;
  Random random_;
};

}  // namespace linebounce::workloads
