// The workload `oltp`: see oltp.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> oltp_parameters();
std::unique_ptr<Workload> make_oltp(const Parameters& parameters);

}  // namespace linebounce::workloads
