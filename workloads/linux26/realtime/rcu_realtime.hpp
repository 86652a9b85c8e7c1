// A real-time task beside RCU's callbacks, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> rcu_realtime_parameters();
std::unique_ptr<Workload> make_rcu_realtime(const Parameters& parameters);

}  // namespace linebounce::workloads
