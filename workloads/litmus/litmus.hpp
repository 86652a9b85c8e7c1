// The workload `litmus`: runs one litmus test many times, under varied conditions, and counts the outcomes.
#pragma once

#include <memory>

#include "workloads/litmus/litmus_test.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// `catalogue`: the test is one of litmus_texts(). `user`: the user has written it.
enum class LitmusOrigin { catalogue, user };
std::unique_ptr<Workload> make_litmus(const LitmusTest& test, std::int64_t rounds,
                                      LitmusOrigin origin = LitmusOrigin::catalogue);

// The limit on a test's loads and stores under ia64. Trying all orders of this many takes seconds; a few more take hours.
inline constexpr std::ptrdiff_t kMostUnderItanium = 7;

}  // namespace linebounce::workloads
