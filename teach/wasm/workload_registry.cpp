// The page's workloads: programs, locks and counters in Lua, and random references for tests. The program has all of them
// (workloads/workload_registry.cpp).
#include "workloads/workload_registry.hpp"

#include "models/listed.hpp"

namespace linebounce::workloads {

std::span<const WorkloadEntry> all_workloads() {
  static const std::vector<WorkloadEntry> kWorkloads = {
      LISTED(MakeWorkloadEntry, program_workload)(),
      LISTED(MakeWorkloadEntry, critical_section_workload)(),
      LISTED(MakeWorkloadEntry, counter_scaling_workload)(),
      LISTED(MakeWorkloadEntry, random_references_workload)(),
  };
  return kWorkloads;
}

}  // namespace linebounce::workloads
