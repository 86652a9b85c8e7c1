// Repeats the comparison that an answer rests on, with each value that the machine takes from its contention family replaced by
// the others of the family's range, one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answer/family_order.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/results_json.hpp"

namespace linebounce::sim {

struct FamilyRange {
  Plan plan;          // a sweep over the changes, the first of which is none, and over the alternatives
  FamilyOrder order;  // without the figures
  std::string metric;
};

// The values that the machine of an experiment without a sweep takes from its family, each with another one of the family's
// range; only those that have an effect there.
std::vector<FamilyChange> family_changes(const Experiment& experiment);

// Whether the machine is the user's own. Figures of those that ship are compared with measurements instead.
bool is_own_machine(const std::string& name);

// None if the answer compares no alternatives, or the machine takes no value from a family that has a range. The alternatives
// are those that matter in the answer, at its point; each runs with at most three seeds. Errors: ConfigError.
std::optional<FamilyRange> family_range(const Plan& plan, const Results& results);

// The sentences, from the points of the range's plan.
std::string order_over_range(const FamilyRange& range, const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
