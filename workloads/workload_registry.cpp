#include "workloads/workload_registry.hpp"

#include <array>

#include "models/listed.hpp"

namespace linebounce::workloads {

std::span<const WorkloadEntry> all_workloads() {
  static const auto kWorkloads = std::to_array<WorkloadEntry>({
      LISTED(MakeWorkloadEntry, operation_costs_workload)(),
      LISTED(MakeWorkloadEntry, load_to_use_workload)(),
      LISTED(MakeWorkloadEntry, contended_line_workload)(),
      LISTED(MakeWorkloadEntry, critical_section_workload)(),
      LISTED(MakeWorkloadEntry, lock_mistakes_workload)(),
      LISTED(MakeWorkloadEntry, false_sharing_workload)(),
      LISTED(MakeWorkloadEntry, munmap_workload)(),
      LISTED(MakeWorkloadEntry, random_references_workload)(),
      LISTED(MakeWorkloadEntry, litmus_workload)(),
      LISTED(MakeWorkloadEntry, core_to_core_workload)(),
      LISTED(MakeWorkloadEntry, atomic_scaling_workload)(),
      LISTED(MakeWorkloadEntry, numa_mix_workload)(),
      LISTED(MakeWorkloadEntry, fget_workload)(),
      LISTED(MakeWorkloadEntry, locks_per_4k_write_workload)(),
      LISTED(MakeWorkloadEntry, multi_user_workload)(),
      LISTED(MakeWorkloadEntry, counter_scaling_workload)(),
      LISTED(MakeWorkloadEntry, netdev_refcount_workload)(),
      LISTED(MakeWorkloadEntry, vfsmount_refcount_workload)(),
      LISTED(MakeWorkloadEntry, tcp_hash_workload)(),
      LISTED(MakeWorkloadEntry, tasklist_walk_workload)(),
      LISTED(MakeWorkloadEntry, train_wreck_workload)(),
      LISTED(MakeWorkloadEntry, dbench_workload)(),
      LISTED(MakeWorkloadEntry, httperf_workload)(),
      LISTED(MakeWorkloadEntry, compile_workload)(),
      LISTED(MakeWorkloadEntry, namei_workload)(),
      LISTED(MakeWorkloadEntry, hammer_workload)(),
      LISTED(MakeWorkloadEntry, route_cache_flood_workload)(),
      LISTED(MakeWorkloadEntry, rcu_designs_workload)(),
      LISTED(MakeWorkloadEntry, rcu_realtime_workload)(),
      LISTED(MakeWorkloadEntry, oltp_workload)(),
      LISTED(MakeWorkloadEntry, timer_churn_workload)(),
      LISTED(MakeWorkloadEntry, slab_churn_workload)(),
      LISTED(MakeWorkloadEntry, block_io_workload)(),
      LISTED(MakeWorkloadEntry, replay_workload)(),
      LISTED(MakeWorkloadEntry, program_workload)(),
  });
  return kWorkloads;
}

}  // namespace linebounce::workloads
