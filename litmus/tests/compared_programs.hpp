// What comparisons of the judge with another engine on random tests share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "litmus/judge.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::sim::litmus {

// The number in a variable of the environment, or else the usual one.
inline std::uint64_t number_in(const char* variable, std::uint64_t usual) {
  const char* const wanted = std::getenv(variable);
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

template <class Test>
using StepOf = typename decltype(Test::threads)::value_type::value_type;

// The test for the judge, with a condition that mentions all registers and variables. `Test` has `variables`, `registers` and
// `threads`, whose steps have a `target`: the register that a step loads into, or -1. `instruction_of(step, registers)`
// receives the thread's own numbers of registers.
template <class Test>
Program program_that_mentions_all(const Test& test,
                                  Instruction (*instruction_of)(const StepOf<Test>&, const std::vector<int>&)) {
  Program program;
  for (int i = 0; i < test.variables; ++i) program.variable(std::string(1, workloads::kLitmusVariables[i]));
  program.condition.kind = Condition::Kind::any;
  const auto mention = [&program](const Place& place) {
    Condition term;
    term.kind = Condition::Kind::term;
    term.place = place;
    program.condition.parts.push_back(term);
  };
  for (std::size_t i = 0; i < test.threads.size(); ++i) {
    program.threads.emplace_back();
    std::vector<int> registers(static_cast<std::size_t>(test.registers), -1);
    for (const auto& step : test.threads[i]) {
      if (step.target >= 0) {
        registers[step.target] = program.threads[i].reg(fmt::format("r{}", step.target));
        mention({static_cast<int>(i), registers[step.target]});
      }
      program.threads[i].instructions.push_back(instruction_of(step, registers));
    }
  }
  for (int i = 0; i < test.variables; ++i) mention({-1, i});
  return program;
}

inline std::set<Outcome> outcomes_by(const Program& program, const Model& model) {
  Judge judge(program, model, {.all = 10'000'000, .witness = 10'000'000});
  return judge.judgement().outcomes.value();
}

}  // namespace linebounce::sim::litmus
