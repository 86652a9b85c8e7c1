// Random computing times. The distribution is a parameter, because waits for a lock depend on the spread of hold and arrival
// times as much as on their means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class Duration {
 public:
  // `distribution` is one of these, in cycles, with the mean `mean_cycles`:
  //   constant      the mean
  //   uniform       from 1 to twice the mean
  //   exponential
  //   two_point     half the mean in nine of ten draws, 5.5 times the mean in the tenth
  // or a histogram of cycles and weights, "100:9 5000:1", which ignores `mean_cycles`.
  // `parameter` is the name of the workload's parameter for the distribution; the parameter for the mean has "_cycles"
  // appended. Errors: std::invalid_argument, "workload.PARAMETER: ..." with the legal values.
  Duration(const std::string& parameter, const std::string& distribution, std::int64_t mean_cycles);

  [[nodiscard]] std::int64_t draw(Random& random) const;

 private:
  enum class Kind { constant, uniform, exponential, histogram };
  struct Bin {
    std::int64_t cycles;
    std::uint64_t up_to;  // the sum of the weights up to and including this bin
  };

  Kind kind_ = Kind::constant;
  std::int64_t mean_;
  std::vector<Bin> bins_;
};

// Returns cycles for each CPU. `text` is a list like "0:50000 1-7:500": a CPU or a range of CPUs, then their cycles. CPUs that
// it does not name get `otherwise`. `parameter` is the parameter's name for errors. Errors: std::invalid_argument,
// "workload.PARAMETER: ..." with the legal form, for any other form, a CPU named twice, or an unknown CPU.
std::vector<std::int64_t> cycles_by_cpu(const std::string& parameter, const std::string& text, std::int64_t otherwise,
                                        int cpus);

}  // namespace linebounce::workloads
