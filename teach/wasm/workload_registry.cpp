// The workloads of the page: programs, locks and counters in Lua, and random references for tests. The program has them all
// (workloads/workload_registry.cpp); titles and headlines are for its tables.
#include "workloads/workload_registry.hpp"

#include "workloads/counters/counter_scaling.hpp"
#include "workloads/lua/lua_program.hpp"
#include "workloads/micro/micro.hpp"

namespace linebounce::workloads {

std::span<const WorkloadEntry> all_workloads() {
  static const std::vector<WorkloadEntry> kWorkloads = {
      {"program", "", program_parameters(), make_program},
      {"critical_section", "", critical_section_parameters(), make_critical_section},
      {"counter_scaling", "", counter_scaling_parameters(), make_counter_scaling},
      {"random_references", "", random_references_parameters(), make_random_references},
  };
  return kWorkloads;
}

}  // namespace linebounce::workloads
