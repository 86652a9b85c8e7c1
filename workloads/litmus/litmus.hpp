// The workload `litmus`: runs one litmus test many times, under varied conditions, and counts the outcomes.
#pragma once

#include <array>
#include <memory>
#include <set>

#include "models/machine_spec.hpp"
#include "workloads/litmus/litmus_test.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// `catalogue`: the test is one of litmus_texts(). `user`: the user has written it.
enum class LitmusOrigin { catalogue, user };

// Whose rules say which outcomes are forbidden. `none`: the test is of another architecture, so outcomes are only counted.
enum class LitmusJudge { machine, none };
inline constexpr std::array<const char*, 2> kLitmusJudges = {"machine", "none"};

std::unique_ptr<Workload> make_litmus(const LitmusTest& test, std::int64_t rounds,
                                      LitmusOrigin origin = LitmusOrigin::catalogue, LitmusJudge judge = LitmusJudge::machine);

// The outcomes that a round on a machine with this model can end in.
std::set<LitmusOutcome> machine_outcomes(const LitmusTest& test, Consistency model);

}  // namespace linebounce::workloads
