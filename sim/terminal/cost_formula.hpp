// Costs that a course computes from counters: "cycles = hits*1 + cache_to_cache*20 + memory_reads*150".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

class CostFormula {
 public:
  // `text`: NAME = sums, differences, products, quotients, parentheses, numbers and names of counters. `place`: where it
  // stands, for messages, "--cost" or "FILE:3:". Errors: std::invalid_argument, also from value(); the message begins with the
  // place.
  CostFormula(std::string_view text, const std::string& place);

  [[nodiscard]] const std::string& name() const { return name_; }
  // A quotient by zero is zero, as a rate of a cache without accesses. Errors: for a name that `values` lacks, and for what is
  // no expression.
  [[nodiscard]] double value(const std::map<std::string, double>& values) const;
  // Errors: a message with the formula's place.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string place_;  // "--cost 'cycles = hits'"
  std::string name_, expression_;
};

// Adds each formula's value to the values, in turn: a formula may use the names of earlier ones. Errors: as for value(), and
// for the name of a counter.
void add_costs(const std::vector<CostFormula>& costs, std::map<std::string, double>& values);

}  // namespace linebounce::sim
