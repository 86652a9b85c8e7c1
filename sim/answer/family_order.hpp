// Tests whether the order of an answer's alternatives depends on values that the machine takes from its contention family.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/point/config_value.hpp"
#include "sim/results/metrics.hpp"

namespace linebounce::sim {

// A change of one value from the contention family: what the family assumes, and what replaces it.
struct FamilyChange {
  std::string path;  // "machine.cpu.hold_ns"
  ConfigValue assumed, other;
};

// The deciding metric of one alternative. None if the alternative's run has not finished.
struct RangeValue {
  double value = 0;
  double interval = 0;  // half the 95 % interval's width; 0: unknown
};
using RangeRow = std::vector<std::optional<RangeValue>>;

struct FamilyOrder {
  std::string family;
  std::vector<std::string> alternatives;  // their names
  Better better = Better::higher;
  RangeRow assumed;  // values under the family's own assumptions, by alternative
  std::vector<FamilyChange> changes;
  std::vector<RangeRow> changed;  // by change
};

// Says in one or two sentences whether the order survives every change; otherwise, which alternative overtakes which under
// which change. Two alternatives differ if their values are more than one percent apart and their intervals do not overlap.
// Empty if fewer than two alternatives have finished.
std::string family_order_text(const FamilyOrder& order);

}  // namespace linebounce::sim
