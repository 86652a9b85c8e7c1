// The workload `litmus`: runs one litmus test many times, under varied conditions, and counts how it ended.
#pragma once

#include <memory>
#include <vector>

#include "workloads/litmus/litmus_test.hpp"
#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> litmus_parameters();
std::unique_ptr<Workload> make_litmus(const Parameters& parameters);
// The same for a test that the catalogue need not have.
std::unique_ptr<Workload> make_litmus(const LitmusTest& test, std::int64_t rounds);

}  // namespace linebounce::workloads
