// The workload `litmus`: runs one litmus test many times, under varied conditions, and counts the outcomes.
#pragma once

#include <memory>

#include "workloads/litmus/litmus_test.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// For a test that the catalogue need not have.
enum class LitmusOrigin { catalogue, user };
std::unique_ptr<Workload> make_litmus(const LitmusTest& test, std::int64_t rounds,
                                      LitmusOrigin origin = LitmusOrigin::catalogue);

// Limit on loads and stores under ia64, where trying all orders of this many takes seconds, and of a few more takes hours.
inline constexpr std::ptrdiff_t kMostUnderItanium = 7;

}  // namespace linebounce::workloads
