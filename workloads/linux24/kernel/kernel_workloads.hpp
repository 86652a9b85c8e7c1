// Parts of a kernel, each as a workload of its own, for the table in workloads/workload_registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

std::vector<ParameterDeclaration> netdev_refcount_parameters();
std::unique_ptr<Workload> make_netdev_refcount(const Parameters& parameters);

std::vector<ParameterDeclaration> vfsmount_refcount_parameters();
std::unique_ptr<Workload> make_vfsmount_refcount(const Parameters& parameters);

std::vector<ParameterDeclaration> tcp_hash_parameters();
std::unique_ptr<Workload> make_tcp_hash(const Parameters& parameters);

std::vector<ParameterDeclaration> tasklist_walk_parameters();
std::unique_ptr<Workload> make_tasklist_walk(const Parameters& parameters);

std::vector<ParameterDeclaration> train_wreck_parameters();
std::unique_ptr<Workload> make_train_wreck(const Parameters& parameters);

}  // namespace linebounce::workloads
