#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> counter_scaling_parameters();
std::unique_ptr<Workload> make_counter_scaling(const Parameters& parameters);

}  // namespace linebounce::workloads
