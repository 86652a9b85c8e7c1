#include "workloads/registry.hpp"

#include "workloads/litmus/litmus.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/micro/micro.hpp"
#include "workloads/numa/numa.hpp"

namespace linebounce {

std::span<const WorkloadEntry> workloads() {
  static const std::vector<WorkloadEntry> kWorkloads = {
      {"operation_costs", "What instructions, cache hits, atomic operations and transfers of a line cost",
       operation_costs_parameters(), make_operation_costs},
      {"critical_section", "All CPUs take one lock and work on the data that it protects", critical_section_parameters(),
       make_critical_section},
      {"false_sharing", "Each CPU counts in a word of its own, in lines that the words may share", false_sharing_parameters(),
       make_false_sharing},
      {"random_references", "Random operations of every kind, checked as they go", random_references_parameters(),
       make_random_references},
      {"litmus", "A litmus test of memory ordering, many times: which outcomes are seen", litmus_parameters(), make_litmus},
      {"core_to_core", "What a line costs that one CPU hands over to another, for every pair, home and state",
       core_to_core_parameters(), make_core_to_core},
      {"atomic_scaling", "All CPUs add to one word", atomic_scaling_parameters(), make_atomic_scaling},
      {"numa_mix", "Kernel and user code by shares: lines that all CPUs write, lines of a node, memory near and far",
       numa_mix_parameters(), make_numa_mix},
  };
  return kWorkloads;
}

std::span<const LockEntry> locks() {
  static const std::vector<LockEntry> kLocks = {
      {"test_and_set", "Every attempt is an atomic exchange", make_test_and_set_lock},
      {"test_and_test_and_set", "Reads until the lock looks free, then tries (Linux 2.4 and 2.6 on i386)",
       make_test_and_test_and_set_lock},
      {"ticket", "First come, first served; all waiters watch one word", make_ticket_lock},
      {"mcs", "A queue; each waiter watches a word on a line of its own", make_mcs_lock},
  };
  return kLocks;
}

}  // namespace linebounce
