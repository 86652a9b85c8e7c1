// The workload that runs a program in Lua, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// Its file alone: what the file declares comes beside it.
std::vector<ParameterDeclaration> program_parameters();
std::unique_ptr<Workload> make_program(const Parameters& parameters);

}  // namespace linebounce::workloads
