// Checks whether an answer depends on the contention family's values. Repeats its comparison several times, each time with
// one value that the machine takes from the family replaced by another value of the family's range.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answer/family_order.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"

namespace linebounce::sim {

struct FamilyRange {
  Plan plan;          // a sweep over the alternatives and the changes; the first change changes nothing
  FamilyOrder order;  // without the figures
  std::string metric;
};

// The changes to try on an experiment's machine: for each value that it takes from its family and that has an effect, each
// other value of the family's range. REQUIRES: the experiment has no sweep.
std::vector<FamilyChange> family_changes(const Experiment& experiment);

// True if the machine is the user's own. Machines that ship are compared with measurements instead.
bool is_own_machine(const std::string& name);

// The runs over the family's range: the alternatives that matter in the answer, at the answer's point, with at most three
// seeds each. None if the answer compares no alternatives, or if the machine takes no value from a family with a range.
// Errors: ConfigError.
std::optional<FamilyRange> family_range(const Plan& plan, const Results& results);

// Sentences on whether the alternatives keep their order. `points`: the results of the range's plan.
std::string order_over_range(const FamilyRange& range, const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
