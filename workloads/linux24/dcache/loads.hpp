// The loads on the dentry cache, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> dbench_parameters();
std::unique_ptr<Workload> make_dbench(const Parameters& parameters);

std::vector<ParameterDeclaration> httperf_parameters();
std::unique_ptr<Workload> make_httperf(const Parameters& parameters);

std::vector<ParameterDeclaration> compile_parameters();
std::unique_ptr<Workload> make_compile(const Parameters& parameters);

std::vector<ParameterDeclaration> namei_parameters();
std::unique_ptr<Workload> make_namei(const Parameters& parameters);

}  // namespace linebounce::workloads
