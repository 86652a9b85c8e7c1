#include "workloads/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "workloads/block/block_io.hpp"
#include "workloads/counters/counter_scaling.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/dcache/loads.hpp"
#include "workloads/files/files.hpp"
#include "workloads/kernel/kernel.hpp"
#include "workloads/litmus/litmus.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/micro/micro.hpp"
#include "workloads/numa/numa.hpp"
#include "workloads/oltp/oltp.hpp"
#include "workloads/replay/replay.hpp"
#include "workloads/slab/churn.hpp"
#include "workloads/timers/churn.hpp"

namespace linebounce {

std::span<const WorkloadEntry> workloads() {
  static const std::vector<WorkloadEntry> kWorkloads = {
      {"operation_costs", "What instructions, cache hits, atomic operations and transfers of a line cost",
       operation_costs_parameters(), make_operation_costs},
      {"critical_section", "All CPUs take one lock and work on the data that it protects", critical_section_parameters(),
       make_critical_section},
      {"lock_mistakes", "Locks taken in a circle, twice, or released by who does not hold them: what is said of it",
       lock_mistakes_parameters(), make_lock_mistakes},
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
      {"fget", "Reads and writes of one byte: how a file descriptor becomes a file", fget_parameters(), make_fget},
      {"locks_per_4k_write", "Which locks a write of 4 KB to ext3 takes, and what merging them saves",
       locks_per_4k_write_parameters(), make_locks_per_4k_write},
      {"multi_user", "Processes that open files in /proc, read directories, end and begin: the kernel's profile",
       multi_user_parameters(), make_multi_user},
      {"counter_scaling", "All CPUs count in one counter, or take and drop references of one object",
       counter_scaling_parameters(), make_counter_scaling},
      {"netdev_refcount", "Packets through the loopback device, which touch its and their route's reference count",
       netdev_refcount_parameters(), make_netdev_refcount},
      {"vfsmount_refcount", "Path walks, which touch their mount's reference count", vfsmount_refcount_parameters(),
       make_vfsmount_refcount},
      {"tcp_hash", "Segments look their connections up while others are opened and closed", tcp_hash_parameters(),
       make_tcp_hash},
      {"tasklist_walk", "Walks over the list of all tasks while others fork and exit", tasklist_walk_parameters(),
       make_tasklist_walk},
      {"train_wreck", "The longest wait for a lock that all CPUs want at the worst time", train_wreck_parameters(),
       make_train_wreck},
      {"dbench", "The dentry cache under clients that look up, create, unlink and rename files", dbench_parameters(),
       make_dbench},
      {"httperf", "The dentry cache under a web server: path walks, few changes", httperf_parameters(), make_httperf},
      {"compile", "The dentry cache under compilers: all CPUs open the same headers", compile_parameters(), make_compile},
      {"namei", "The dentry cache alone: paths are walked; files are created, renamed and removed", namei_parameters(),
       make_namei},
      {"oltp", "A data base's processes on the scheduler, timers, slab, AIO, block and SCSI layers of Linux 2.6.20",
       oltp_parameters(), make_oltp},
      {"timer_churn", "Commands whose timers are added on one CPU and deleted on another", timer_churn_parameters(),
       make_timer_churn},
      {"slab_churn", "Objects that are allocated on one CPU and freed on another", slab_churn_parameters(), make_slab_churn},
      {"block_io", "Direct I/O from every CPU to every disk: block layer, SCSI and adapter of Linux 2.6.20",
       block_io_parameters(), make_block_io},
      {"replay", "A trace of operations, recorded or made, with any locks in the place of its own", replay_parameters(),
       make_replay},
  };
  return kWorkloads;
}

std::span<const LockEntry> locks() {
  static const std::vector<LockEntry> kLocks = {
      {"tas", "Test-and-set: every attempt is an atomic exchange", {.fits_4_bytes = true}, make_tas_lock},
      {"ttas",
       "Reads until the lock looks free, then tries (Linux 2.4 and 2.6 on i386)",
       {.fits_4_bytes = true},
       make_ttas_lock},
      {"ttas_backoff",
       "The same, and who loses stays away for a time that doubles",
       {.fits_4_bytes = true},
       make_ttas_backoff_lock},
      {"ticket", "First come, first served; all waiters watch one word", {.fifo = true}, make_ticket_lock},
      {"mcs", "A queue; each waiter watches a word on a line of its own", {.fifo = true}, make_mcs_lock},
      {"clh", "A queue; each waiter watches the node of the one before it", {.fifo = true}, make_clh_lock},
      {"qspinlock",
       "Linux since 4.2: four bytes, the first waiter watches them, the others queue",
       {.fits_4_bytes = true},
       make_qspinlock},
      {"rwlock",
       "Readers together, a writer alone, one counter (Linux 2.4 and 2.6 on i386)",
       {.readers = Readers::together},
       make_rwlock},
      {"brlock",
       "A reader takes its own CPU's lock, a writer all CPUs' (Linux 2.4)",
       {.readers = Readers::together},
       make_brlock},
      {"seqlock",
       "Readers write nothing and read again if a writer came between",
       {.readers = Readers::read_again},
       make_seqlock},
      {"rcu",
       "Readers take nothing; writers take turns, publish copies and wait for grace periods",
       {.readers = Readers::never_wait},
       make_rcu_lock},
      {"mutex", "Spins while the owner runs, else sleeps in a queue (Linux 2.6.30)", {.sleeps = true}, make_mutex},
      {"none",
       "No lock: what the section costs, and its races, counted",
       {.excludes = false, .readers = Readers::together, .fits_4_bytes = true},
       make_no_lock},
  };
  return kLocks;
}

std::span<const CounterEntry> counters() {
  static const std::vector<CounterEntry> kCounters = {
      {"under_lock", "Events, in a plain word that a lock protects", make_counter_under_lock, nullptr},
      {"atomic", "Events or references, by atomic addition", make_atomic_counter, make_atomic_reference_count},
      {"cmpxchg_loop", "Events, by compare-and-exchange until it succeeds", make_cmpxchg_counter, nullptr},
      {"per_cpu", "Events, in a word of each CPU's own", make_per_cpu_counter, nullptr},
      {"bigref", "References, in a word of each CPU's own; in one word once the object is dying", nullptr, make_bigref},
      {"dec_and_lock", "References, by compare-and-exchange; the last one under a lock", nullptr, make_dec_and_lock},
      {"lockref", "References, beside a spin lock in one word", nullptr, make_lockref},
  };
  return kCounters;
}

const LockEntry& find_lock(const std::string& name) {
  for (const LockEntry& entry : locks()) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument(
      fmt::format("no lock is called {}; there are: {}", name, fmt::join(lock_names([](auto&) { return true; }), ", ")));
}

const CounterEntry& find_counter(const std::string& name) {
  std::vector<std::string> names;
  for (const CounterEntry& entry : counters()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw std::invalid_argument(fmt::format("no counter is called {}; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<std::string> counter_names(bool references) {
  std::vector<std::string> names;
  for (const CounterEntry& entry : counters()) {
    if (references ? entry.create_reference_count != nullptr : entry.create_counter != nullptr) names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string> lock_names(const std::function<bool(const LockTraits&)>& suits) {
  std::vector<std::string> names;
  for (const LockEntry& entry : locks()) {
    if (suits(entry.traits)) names.push_back(entry.name);
  }
  return names;
}

ParameterDeclaration lock_parameter(const std::string& name, const std::string& otherwise, const std::string& meaning,
                                    const std::function<std::string(const LockTraits&)>& why_not) {
  ParameterDeclaration parameter{.name = name, .default_value = otherwise, .meaning = meaning};
  for (const LockEntry& entry : locks()) {
    const bool needs_copies = entry.traits.readers == Readers::never_wait;
    const std::string reason =
        needs_copies ? "its readers keep nobody out: writers would have to publish copies, and here they write in place"
                     : why_not(entry.traits);
    if (reason.empty()) {
      parameter.choices.push_back(entry.name);
    } else {
      parameter.refusals[entry.name] = reason;
    }
  }
  return parameter;
}

}  // namespace linebounce
