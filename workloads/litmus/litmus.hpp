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

// Trying all orders under ia64 takes seconds for so many loads and stores, and hours for a few more.
inline constexpr std::ptrdiff_t kMostUnderItanium = 7;

}  // namespace linebounce::workloads
