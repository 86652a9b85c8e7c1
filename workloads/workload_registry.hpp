// The table from name to factory of the workloads: one line each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/program/parameters.hpp"

namespace linebounce::workloads {

class Workload;

struct WorkloadEntry {
  std::string name;
  std::string title;
  std::vector<ParameterDeclaration> parameters;
  std::unique_ptr<Workload> (*create)(const Parameters&);
};

// In the order in which `list` shows them.
std::span<const WorkloadEntry> all_workloads();

}  // namespace linebounce::workloads
