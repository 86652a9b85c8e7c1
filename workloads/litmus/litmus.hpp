// The workload `litmus`: runs one litmus test many times, under varied conditions, and counts the outcomes.
#pragma once

#include <memory>

#include "workloads/litmus/litmus_test.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// For a test that the catalogue need not have.
std::unique_ptr<Workload> make_litmus(const LitmusTest& test, std::int64_t rounds);

}  // namespace linebounce::workloads
