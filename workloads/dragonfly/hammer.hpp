// HAMMER, DragonFly BSD's file system, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> hammer_parameters();
std::unique_ptr<Workload> make_hammer(const Parameters& parameters);

}  // namespace linebounce::workloads
