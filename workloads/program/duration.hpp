// A random computing time. Waits for a lock depend on the spread of hold and arrival times as much as on their means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class Duration {
 public:
  // `distribution`, of cycles with mean `mean_cycles`:
  //   constant      the mean
  //   uniform       from 1 to twice the mean
  //   exponential
  //   two_point     half the mean in nine of ten draws, 5.5 times the mean in the tenth
  // or a histogram, "100:9 5000:1": cycles and weights, which ignores the mean.
  // `parameter` is the distribution's name; with "_cycles" appended it is the mean's. Errors: std::invalid_argument,
  // "workload.PARAMETER: ..." with the legal values.
  Duration(const std::string& parameter, const std::string& distribution, std::int64_t mean_cycles);

  [[nodiscard]] std::int64_t draw(Random& random) const;

 private:
  enum class Kind { constant, uniform, exponential, histogram };
  struct Bin {
    std::int64_t cycles;
    std::uint64_t up_to;  // the cumulated weight
  };

  Kind kind_ = Kind::constant;
  std::int64_t mean_;
  std::vector<Bin> bins_;
};

// A value for each CPU, such as one CPU that requests the lock a hundred times as often as the others. Parses "0:50000 1-7:500"
// (a CPU or a range, then cycles); other CPUs get `otherwise`. `parameter` is the name for errors. Errors:
// std::invalid_argument, "workload.PARAMETER: ..." with the legal form, for any other form, a CPU named twice, or an unknown
// CPU.
std::vector<std::int64_t> cycles_by_cpu(const std::string& parameter, const std::string& text, std::int64_t otherwise,
                                        int cpus);

}  // namespace linebounce::workloads
