// The factories and parameters of the workloads for machines of several nodes, for the table in
// workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> core_to_core_parameters();
std::unique_ptr<Workload> make_core_to_core(const Parameters& parameters);

std::vector<ParameterDeclaration> atomic_scaling_parameters();
std::unique_ptr<Workload> make_atomic_scaling(const Parameters& parameters);

std::vector<ParameterDeclaration> numa_mix_parameters();
std::unique_ptr<Workload> make_numa_mix(const Parameters& parameters);

}  // namespace linebounce::workloads
