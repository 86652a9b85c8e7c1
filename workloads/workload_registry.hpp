// The table from name to factory of the workloads: one line each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/program/parameters.hpp"

namespace linebounce::workloads {

class Workload;

// A metric that people read first, and what it is called above a column: "wait", without its unit.
struct Headline {
  std::string metric;
  std::string label;
};

struct WorkloadEntry {
  std::string name;
  std::string title;
  std::vector<ParameterDeclaration> parameters;
  std::unique_ptr<Workload> (*create)(const Parameters&);
  std::vector<Headline> headlines = {};  // the most important one first; fewer than three are filled up by others
};

// In the order in which `list` shows them.
std::span<const WorkloadEntry> all_workloads();

}  // namespace linebounce::workloads
