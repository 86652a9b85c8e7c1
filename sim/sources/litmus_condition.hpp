// Reads the condition that ends a litmus test: "exists (0:EAX=0 /\ (x=1 \/ not (1:EBX=2)))".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// "0:EAX=1", or "x=1". `differs`: another value.
struct ConditionTerm {
  std::string name;
  int value = 0;
  bool differs = false;
};

struct LitmusCondition {
  bool is_for_all = false;  // true: "forall", which holds if no outcome satisfies `alternatives`, its negation
  // The condition holds if all terms of one of these lists do.
  std::vector<std::vector<ConditionTerm>> alternatives;
};

// True if a line begins with exists, ~exists or forall.
bool begins_condition(std::string_view text);

// Errors: std::invalid_argument, saying what was expected.
LitmusCondition parse_condition(std::string_view text);

}  // namespace linebounce::sim
