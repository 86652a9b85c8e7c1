// Checks whether an answer depends on the contention family's values: repeats its comparison with each value that the machine
// takes from the family replaced by the other values of the family's range, one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answer/family_order.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"

namespace linebounce::sim {

struct FamilyRange {
  Plan plan;          // a sweep over the alternatives and the changes; the first change is none
  FamilyOrder order;  // without the figures
  std::string metric;
};

// The changes to try for an experiment's machine: each value that it takes from its family, with another value of the
// family's range. Only values that have an effect. The experiment must not have a sweep.
std::vector<FamilyChange> family_changes(const Experiment& experiment);

// True if the machine is the user's own. Machines that ship are compared with measurements instead.
bool is_own_machine(const std::string& name);

// The runs over the family's range. None if the answer compares no alternatives, or if the machine takes no value from a
// family with a range. Compares the alternatives that matter in the answer, at its point, with at most three seeds each.
// Errors: ConfigError.
std::optional<FamilyRange> family_range(const Plan& plan, const Results& results);

// The sentences on the order of the alternatives, from the points of the range's plan.
std::string order_over_range(const FamilyRange& range, const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
