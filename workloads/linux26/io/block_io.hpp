// The factory and parameters of the workload of this folder, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> block_io_parameters();
std::unique_ptr<Workload> make_block_io(const Parameters& parameters);

}  // namespace linebounce::workloads
