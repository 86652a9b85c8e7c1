#include "workloads/rcu/rcu_mistake.hpp"

#include "workloads/program/parameter_binder.hpp"

namespace linebounce::workloads {

RcuMistake RcuMistakeOption::mistake() const {
  if (name == "skips_a_cpu") return RcuMistake::skips_a_cpu;
  return name == "no_barrier" ? RcuMistake::no_barrier : RcuMistake::none;
}

void RcuMistakeOption::bind(ParameterBinder& parameters) {
  parameters.text(
      "mistake", name,
      "what RCU gets wrong, to see that it is found: a grace period that doesn't wait for the last CPU; a reader (of "
      "srcu, qsbr) that announces itself without a memory barrier",
      {"none", "skips_a_cpu", "no_barrier"});
}

}  // namespace linebounce::workloads
