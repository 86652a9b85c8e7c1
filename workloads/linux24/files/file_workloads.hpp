// Workloads of the file layer, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> fget_parameters();
std::unique_ptr<Workload> make_fget(const Parameters& parameters);

std::vector<ParameterDeclaration> locks_per_4k_write_parameters();
std::unique_ptr<Workload> make_locks_per_4k_write(const Parameters& parameters);

std::vector<ParameterDeclaration> multi_user_parameters();
std::unique_ptr<Workload> make_multi_user(const Parameters& parameters);

}  // namespace linebounce::workloads
