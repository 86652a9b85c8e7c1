// Costs that a course computes from counters: "cycles = hits*1 + cache_to_cache*20 + memory_reads*150".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

class CostFormula {
 public:
  // `text`: NAME = sums, differences, products, quotients, parentheses, numbers and names of counters. Errors:
  // std::invalid_argument.
  explicit CostFormula(std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  // A quotient by zero is zero, as a rate of a cache without accesses. Errors: std::invalid_argument for a name that `values`
  // lacks, and for what is no expression.
  [[nodiscard]] double value(const std::map<std::string, double>& values) const;

 private:
  std::string name_, expression_;
};

// Adds each formula's value to the values, in turn: a formula may use the names of earlier ones. Errors: as for value(), and
// for the name of a counter.
void add_costs(const std::vector<CostFormula>& costs, std::map<std::string, double>& values);

}  // namespace linebounce::sim
