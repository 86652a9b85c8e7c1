// The workload slab_churn, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> slab_churn_parameters();
std::unique_ptr<Workload> make_slab_churn(const Parameters& parameters);

}  // namespace linebounce::workloads
