// Workloads of the network layer, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> route_cache_flood_parameters();
std::unique_ptr<Workload> make_route_cache_flood(const Parameters& parameters);

}  // namespace linebounce::workloads
