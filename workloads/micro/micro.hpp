// The factories and parameters of the micro-workloads, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> operation_costs_parameters();
std::unique_ptr<Workload> make_operation_costs(const Parameters& parameters);

std::vector<ParameterDeclaration> load_to_use_parameters();
std::unique_ptr<Workload> make_load_to_use(const Parameters& parameters);

// In a ModelFailure of critical_section, behind the lock that lets a second CPU in.
inline constexpr std::string_view kDoesNotExclude = " does not exclude: ";

std::vector<ParameterDeclaration> critical_section_parameters();
std::unique_ptr<Workload> make_critical_section(const Parameters& parameters);

std::vector<ParameterDeclaration> false_sharing_parameters();
std::unique_ptr<Workload> make_false_sharing(const Parameters& parameters);

std::vector<ParameterDeclaration> munmap_parameters();
std::unique_ptr<Workload> make_munmap(const Parameters& parameters);

std::vector<ParameterDeclaration> random_references_parameters();
std::unique_ptr<Workload> make_random_references(const Parameters& parameters);

std::vector<ParameterDeclaration> lock_mistakes_parameters();
std::unique_ptr<Workload> make_lock_mistakes(const Parameters& parameters);

std::vector<ParameterDeclaration> rcu_designs_parameters();
std::unique_ptr<Workload> make_rcu_designs(const Parameters& parameters);

}  // namespace linebounce::workloads
