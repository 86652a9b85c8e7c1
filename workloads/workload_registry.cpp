#include "workloads/workload_registry.hpp"

#include "workloads/counters/counter_scaling.hpp"
#include "workloads/linux24/dcache/loads.hpp"
#include "workloads/linux24/files/file_workloads.hpp"
#include "workloads/linux24/kernel/kernel_workloads.hpp"
#include "workloads/linux26/io/block_io.hpp"
#include "workloads/linux26/oltp/oltp.hpp"
#include "workloads/linux26/slab/slab_churn.hpp"
#include "workloads/linux26/timers/timer_churn.hpp"
#include "workloads/litmus/litmus.hpp"
#include "workloads/lua/lua_program.hpp"
#include "workloads/micro/micro.hpp"
#include "workloads/numa/numa.hpp"
#include "workloads/replay/replay.hpp"

namespace linebounce::workloads {

namespace {

const Headline kOperations = {"throughput.operations_per_s", "operations"};
const Headline kLeastCpu = {"fairness.least_share_pct", "least CPU"};
const Headline kLatency = {"latency.kernel_us_per_operation", "latency"};
const Headline kLocal = {"misses.local_share_pct", "local misses"};
const Headline kDcacheLock = {"locks.dcache_lock.con_pct", "dcache_lock CON"};

}  // namespace

std::span<const WorkloadEntry> all_workloads() {
  static const std::vector<WorkloadEntry> kWorkloads = {
      {"operation_costs",
       "What instructions, cache hits, atomic operations and transfers of a line cost",
       operation_costs_parameters(),
       make_operation_costs,
       {{"cost.atomic_increment", "atomic add"},
        {"cost.atomic_increment_cache_transfer", "with transfer"},
        {"cost.main_memory", "memory"}}},
      {"critical_section",
       "All CPUs acquire one lock and work on the data that it protects",
       critical_section_parameters(),
       make_critical_section,
       {kOperations, {"locks.section_lock.wait_mean_us", "wait"}, kLeastCpu}},
      {"lock_mistakes",
       "Lock misuse, and the report for each mistake: deadlock, double acquisition, wrong release",
       lock_mistakes_parameters(),
       make_lock_mistakes,
       {{"mistake.rounds", "rounds"}}},
      {"false_sharing",
       "Each CPU increments a word of its own; the words may share lines",
       false_sharing_parameters(),
       make_false_sharing,
       {kOperations, kLatency, kLeastCpu}},
      {"random_references",
       "Random operations of every kind, checked as they go",
       random_references_parameters(),
       make_random_references,
       {{"random.operations", "operations"}}},
      {"litmus",
       "A litmus test of memory ordering, repeated: which outcomes appear",
       litmus_parameters(),
       make_litmus,
       {{"litmus.rounds", "rounds"}, {"litmus.relaxed", "relaxed"}, {"litmus.forbidden", "forbidden"}}},
      {"core_to_core",
       "What a line costs that moves from one CPU to another, for every pair, home and state",
       core_to_core_parameters(),
       make_core_to_core,
       {{"core_to_core.same_node_ns", "same node"}, {"core_to_core.other_node_ns", "other node"}}},
      {"atomic_scaling",
       "All CPUs add to one word",
       atomic_scaling_parameters(),
       make_atomic_scaling,
       {kOperations, {"cost.fetch_and_add", "addition"}, kLeastCpu}},
      {"numa_mix",
       "Kernel and user code by shares: lines that all CPUs write, lines of one node, local and remote memory",
       numa_mix_parameters(),
       make_numa_mix,
       {kOperations, {"mix.kernel_ns_per_transaction", "kernel"}, kLocal}},
      {"fget",
       "Reads and writes of one byte: how a file descriptor becomes a file",
       fget_parameters(),
       make_fget,
       {{"throughput.system_ns_per_operation", "read and write"}, kOperations, kLatency}},
      {"locks_per_4k_write",
       "Which locks a 4 KB write to ext3 acquires, and what merging them saves",
       locks_per_4k_write_parameters(),
       make_locks_per_4k_write,
       {{"cost.write_4k", "write"}, {"write.locks_mean", "locks"}}},
      {"multi_user",
       "Processes that open files in /proc, read directories, fork and exit: the kernel's profile",
       multi_user_parameters(),
       make_multi_user,
       {kOperations, kDcacheLock, {"time.system_pct", "system"}}},
      {"counter_scaling",
       "All CPUs increment one counter, or take and drop references to one object",
       counter_scaling_parameters(),
       make_counter_scaling,
       {kOperations, kLatency, kLeastCpu}},
      {"netdev_refcount",
       "Packets through the loopback device, which touch its reference count and their route's",
       netdev_refcount_parameters(),
       make_netdev_refcount,
       {kOperations, kLatency}},
      {"vfsmount_refcount",
       "Path walks, which touch their mount's reference count",
       vfsmount_refcount_parameters(),
       make_vfsmount_refcount,
       {kOperations, kLatency}},
      {"tcp_hash",
       "Segments look up their connections while others are opened and closed",
       tcp_hash_parameters(),
       make_tcp_hash,
       {kOperations, kLatency}},
      {"tasklist_walk",
       "Walks over the list of all tasks while others fork and exit",
       tasklist_walk_parameters(),
       make_tasklist_walk,
       {{"tasklist.walks_per_s", "walks"}, {"tasklist.walk_mean_us", "walk"}, {"tasklist.fork_mean_us", "fork"}}},
      {"train_wreck",
       "The longest wait for a lock that all CPUs want at the worst time",
       train_wreck_parameters(),
       make_train_wreck,
       {{"train_wreck.longest_wait_us", "longest wait"},
        {"train_wreck.bound_us", "bound"},
        {"train_wreck.longest_wait_of_bound", "wait / bound"}}},
      {"dbench",
       "The dentry cache under clients that look up, create, unlink and rename files",
       dbench_parameters(),
       make_dbench,
       {kOperations, kDcacheLock, kLatency}},
      {"httperf",
       "The dentry cache under a web server: path walks, few changes",
       httperf_parameters(),
       make_httperf,
       {kOperations, kDcacheLock, kLatency}},
      {"compile",
       "The dentry cache under compilers: all CPUs open the same headers",
       compile_parameters(),
       make_compile,
       {kOperations, kDcacheLock, kLatency}},
      {"namei",
       "The dentry cache alone: paths are walked; files are created, renamed and removed",
       namei_parameters(),
       make_namei,
       {kOperations, {"throughput.files_created_per_s", "files created"}, kDcacheLock}},
      {"oltp",
       "A database's processes on the scheduler, timers, slab, AIO, block and SCSI layers of Linux 2.6.20",
       oltp_parameters(),
       make_oltp,
       {kOperations, kLatency, kLocal}},
      {"timer_churn",
       "Commands whose timers are added on one CPU and deleted on another",
       timer_churn_parameters(),
       make_timer_churn,
       {kOperations, kLatency, kLocal}},
      {"slab_churn",
       "Objects that are allocated on one CPU and freed on another",
       slab_churn_parameters(),
       make_slab_churn,
       {kOperations, kLatency, kLocal}},
      {"block_io",
       "Direct I/O from every CPU to every disk: block layer, SCSI and adapter of Linux 2.6.20",
       block_io_parameters(),
       make_block_io,
       {kOperations, {"io.batch_us", "batch"}, kLatency}},
      {"replay",
       "A trace of operations, recorded or synthetic, with its own locks or others",
       replay_parameters(),
       make_replay,
       {{"replay.first_thread_over_us", "first thread over"},
        {"latency.user_offchip.mean_ns", "miss"},
        {"replay.operations", "operations"}}},
      {"program", "A program of your own, in Lua", program_parameters(), make_program, {kOperations}},
  };
  return kWorkloads;
}

}  // namespace linebounce::workloads
