// The table of all metrics, by group; within a group in the order of presentation. A new metric is a line
// here.
#include <array>

#include "sim/point/metrics.hpp"

namespace linebounce::sim {

namespace {

using enum MetricGroup;
using enum Better;

constexpr bool kHeadline = true;
constexpr bool kDetail = false;

constexpr std::string_view kOfCallSite = "the lock's figure of this name, of one function alone that took it";

constexpr auto kMetrics = std::to_array<MetricDeclaration>({
    // ---- what one operation takes ----
    {"cost.operation_ns", "ns", cost, lower, kHeadline,
     "a CPU's time for one operation of `throughput.operations_per_s`, where the workload says it"},
    {"cost.fetch_and_add", "ns", cost, lower, kHeadline, "workload `atomic_scaling`: a CPU's time for one addition"},
    {"cost.write_4k", "ns", cost, lower, kHeadline, "workload `locks_per_4k_write`: a write of 4 KB, mean of all writers"},
    {"cost.<operation>", "ns", cost, lower, kHeadline,
     "workload `operation_costs`: `configs/experiments/operation_costs.toml` defines each"},
    {"load_to_use.<place>", "ns", cost, lower, kHeadline,
     "workload `load_to_use`: a load that the next one waits for, from a ring of so many KiB or from a node's memory"},

    {"throughput.operations_per_s", "1/s", throughput, higher, kHeadline,
     "the workload's own operations, of all CPUs; of `oltp`: transactions that are committed"},
    {"throughput.operations", "", throughput, higher, kDetail,
     "the operations of `throughput.operations_per_s` that were counted"},
    {"throughput.second_half_pct", "%", throughput, neither, kDetail,
     "of the misses of the measured time, those of its second half: near 50 if the warm-up was long enough; with 1,000 or "
     "more"},
    {"throughput.lower_mode", "1/s", throughput, higher, kDetail,
     "mean of `throughput.operations_per_s` over the seeds in the lower of two modes; missing if the seeds agree"},
    {"throughput.upper_mode", "1/s", throughput, higher, kDetail, "likewise, the seeds in the upper mode"},
    {"throughput.lower_mode_seeds", "", throughput, neither, kDetail, "how many seeds are in the lower mode"},
    {"throughput.system_ns_per_operation", "ns", throughput, lower, kHeadline,
     "workload `fget`: CPU time of a read and a write together"},
    {"throughput.files_created_per_s", "1/s", throughput, higher, kHeadline,
     "workload `namei`: files created; each may be renamed, and is removed again"},

    // ---- what a workload measures of itself ----
    {"fairness.least_share_pct", "%", workload, higher, kHeadline, "the CPU that got least, of the one that got most"},
    {"fairness.starved_cpus", "", workload, lower, kDetail, "CPUs that got less than a tenth of an equal share"},
    {"fairness.jain_pct", "%", workload, higher, kHeadline,
     "Jain's index: 100 if all CPUs got the same, 100 / CPUs if one got everything"},
    {"program.<tally>", "", workload, neither, kHeadline,
     "workload `program`: what the program counts under this name, beside the operations"},
    {"section.lost_updates", "", workload, lower, kHeadline,
     "workload `critical_section`: increments that were lost; not 0 for lock `none` alone"},
    {"section.torn_reads", "", workload, lower, kHeadline,
     "workload `critical_section`: readers who saw half of a writer's data; not 0 for lock `none` alone"},
    {"litmus.rounds", "", workload, neither, kHeadline, "workload `litmus`: all rounds"},
    {"litmus.asked", "", workload, neither, kHeadline, "workload `litmus`: rounds that ended as the test asks"},
    {"litmus.relaxed", "", workload, neither, kHeadline,
     "workload `litmus`: rounds that no interleaving of the operations explains"},
    {"litmus.forbidden", "", workload, lower, kHeadline, "workload `litmus`: rounds that the machine's model forbids"},
    {"litmus.seen.<outcome...>", "", workload, neither, kHeadline,
     "workload `litmus`: rounds that ended so; `r0_1.r1_0` is r0 = 1, r1 = 0. Every outcome that `ia64` allows has one"},
    {"core_to_core.same_node_ns", "ns", workload, lower, kHeadline,
     "workload `core_to_core`: mean over pairs in one node, over all states and homes"},
    {"core_to_core.other_node_ns", "ns", workload, lower, kHeadline,
     "workload `core_to_core`: mean over pairs on two nodes, over all states and homes"},
    {"core_to_core.<state>.same_node_ns", "ns", workload, lower, kHeadline,
     "workload `core_to_core`: mean over pairs in one node, of lines in that state"},
    {"core_to_core.<state>.other_node_ns", "ns", workload, lower, kHeadline,
     "workload `core_to_core`: mean over pairs on two nodes, of lines in that state"},
    {"core_to_core.<state>.third_node_home_ns", "ns", workload, lower, kHeadline,
     "workload `core_to_core`: mean over pairs on two nodes with the line's home on a third, of lines in that state"},
    {"mix.visits.<kind>", "", workload, neither, kHeadline,
     "workload `numa_mix`: how often it went to lines of that kind, hits too"},
    {"mix.kernel_ns_per_transaction", "ns", workload, lower, kHeadline,
     "workload `numa_mix`: kernel's CPU time for one operation of `throughput.operations_per_s`"},
    {"mix.user_ns_per_transaction", "ns", workload, lower, kHeadline,
     "workload `numa_mix`: user's CPU time for one operation of `throughput.operations_per_s`"},
    {"mix.spin_share_pct", "%", workload, lower, kHeadline,
     "workload `numa_mix`: of kernel time, from a failed attempt to take a lock to its being taken"},
    {"io.batch_us", "us", workload, lower, kHeadline,
     "workload `block_io`: from the submission of a batch to the last of its completions, mean"},
    {"oltp.reads_per_s", "1/s", workload, higher, kHeadline, "workload `oltp`: requests that sessions have submitted"},
    {"oltp.writes_per_s", "1/s", workload, higher, kHeadline,
     "workload `oltp`: requests that sessions and writers have submitted"},
    {"write.buffer_<i>.locks", "", workload, lower, kHeadline,
     "workload `locks_per_4k_write`: spin locks that this write of CPU 0 took"},
    {"write.locks_mean", "", workload, lower, kHeadline,
     "workload `locks_per_4k_write`: spin locks that a write of CPU 0 took, mean"},
    {"rcu.grace_periods", "", workload, neither, kHeadline, "grace periods that ended in the measured time"},
    {"rcu.grace_period_mean_us", "us", workload, lower, kHeadline, "how long a grace period took, mean"},
    {"rcu.grace_period_max_us", "us", workload, lower, kHeadline, "the longest grace period"},
    {"rcu.callbacks", "", workload, neither, kHeadline, "callbacks that ran"},
    {"rcu.callback_wait_mean_us", "us", workload, lower, kHeadline, "time of a callback from `call()` on, mean"},
    {"rcu.batch_max", "", workload, neither, kHeadline, "the most callbacks in one go"},
    {"rcu.queued_max", "", workload, lower, kHeadline, "the most callbacks that waited on one CPU, in the whole run"},
    {"tcp_hash.opened", "", workload, neither, kHeadline, "workload `tcp_hash`: connections opened"},
    {"tcp_hash.not_found", "", workload, neither, kHeadline, "workload `tcp_hash`: segments without a connection"},
    {"tcp_hash.waits_for_memory", "", workload, lower, kHeadline,
     "workload `tcp_hash`: waits for a grace period because there was no free memory"},
    {"tasklist.walks_per_s", "1/s", workload, higher, kHeadline, "workload `tasklist_walk`: walks through the list of tasks"},
    {"tasklist.walk_mean_us", "us", workload, lower, kHeadline, "workload `tasklist_walk`: time of a walk, mean"},
    {"tasklist.forks_per_s", "1/s", workload, higher, kHeadline, "workload `tasklist_walk`: forks"},
    {"tasklist.fork_mean_us", "us", workload, lower, kHeadline, "workload `tasklist_walk`: time of a fork, mean"},
    {"tasklist.waits_for_memory", "", workload, lower, kHeadline,
     "workload `tasklist_walk`: waits for a grace period because there was no free memory"},
    {"train_wreck.longest_wait_us", "us", workload, lower, kHeadline, "workload `train_wreck`: the longest wait for the lock"},
    {"train_wreck.bound_us", "us", workload, neither, kHeadline,
     "workload `train_wreck`: (N - 1) times the longest critical section"},
    {"train_wreck.longest_wait_of_bound", "", workload, lower, kHeadline,
     "workload `train_wreck`: the longest wait / the bound"},
    {"timers.starts_without_command", "", workload, lower, kHeadline,
     "workload `timer_churn`: starts that found no free memory for a command"},
    {"mistake.rounds", "", workload, neither, kHeadline, "workload `lock_mistakes`: rounds of all CPUs"},
    {"random.operations", "", workload, neither, kHeadline, "workload `random_references`: operations of all CPUs"},
    {"random.checksum", "", workload, neither, kHeadline, "workload `random_references`: of all values that were loaded"},
    {"replay.operations", "", workload, neither, kHeadline,
     "workload `replay`: operations of the trace that were executed, from the start of the run; each of an operation's repeats "
     "counts, where `trace info` counts them as one"},
    {"replay.first_thread_over_us", "us", workload, neither, kHeadline,
     "workload `replay`: from the start of the run, when the first thread ran out of operations"},
    {"replay.misses.<source>.difference_pct", "%", workload, neither, kHeadline,
     "workload `replay`: by how much `latency.<source>.count` differs from that of the recorded run. Only of a trace that "
     "`trace record` has made, replayed on the same machine, with the same locks and measured time"},
    {"replay.tries_otherwise", "", workload, lower, kHeadline,
     "workload `replay`: attempts on a lock with another outcome than recorded"},
    {"replay.reads_again", "", workload, neither, kHeadline, "workload `replay`: sections of readers that were read again"},
    {"replay.handlers_missing", "", workload, lower, kHeadline,
     "workload `replay`: interrupts for which the trace had no handler any more"},
    {"replay.handlers_left", "", workload, lower, kHeadline, "workload `replay`: handlers for which no interrupt came"},

    // ---- whose lines they are ----
    {"subsystem.<name>.latency_us_per_operation", "us", subsystem, lower, kHeadline,
     "of `latency.kernel_us_per_operation`: on all objects, not only the worst lines, of structures that the layout file gives "
     "to that subsystem"},
    {"subsystem.<name>.misses_pct", "%", subsystem, neither, kHeadline,
     "of the misses on the 500 lines of `misses.top500_share_pct`: on objects of structures that the layout file gives to that "
     "subsystem"},
    {"subsystem.<name>.latency_pct", "%", subsystem, neither, kHeadline,
     "of the latency on these 500 lines: on objects of structures that the layout file gives to that subsystem"},
    {"table.<id...>.samples", "", subsystem, neither, kHeadline,
     "of a measured table (`[[table]]`, `configs/experiments/README.md`): samples on the simulated line, those of no row of "
     "the table too. `table.<id>.<row>.samples`: of that row; `configs/figures/README.md` says how rows are called"},
    {"table.<id...>.remote_pct", "%", subsystem, neither, kHeadline,
     "`table.<id>.<row>.remote_pct`: how many of the row's samples are from another node than the line's home; without samples "
     "there is none"},
    {"table.<id...>.rank_correlation", "", subsystem, higher, kHeadline,
     "Spearman's coefficient of measured and simulated samples, over the rows with at least 10 measured samples; equal numbers "
     "share a rank, a row without simulated samples has 0, and if all have the same number the coefficient is 0"},
    {"tables.rank_correlation_median", "", subsystem, higher, kHeadline, "over all tables: median of the coefficients"},
    {"tables.rows_within_10_points", "", subsystem, higher, kHeadline,
     "over all tables: of the rows that are scored those whose remote share is within 10 points of the measured one"},
    {"tables.rows", "", subsystem, neither, kHeadline, "over all tables: rows that are scored"},

    // ---- locks ----
    {"locks.<lock>.con_pct", "%", lock, lower, kDetail, "share of the acquisitions that had to wait"},
    {"locks.<lock>.wait_mean_us", "us", lock, lower, kDetail, "mean wait, over those that waited"},
    {"locks.<lock>.wait_max_us", "us", lock, lower, kDetail, "the longest wait"},
    {"locks.<lock>.hold_mean_us", "us", lock, lower, kDetail, "mean hold, to the beginning of the release"},
    {"locks.<lock>.hold_max_us", "us", lock, lower, kDetail, "the longest hold"},
    {"locks.<lock>.util_pct", "%", lock, lower, kDetail,
     "share of the time in which it is held; of several locks of one name the mean one's. Readers who hold it together are "
     "added up: of theirs it can exceed 100"},
    {"locks.<lock>.util_worst_pct", "%", lock, lower, kDetail,
     "of several locks of one name: `util_pct` of the one that is held most"},
    {"locks.<lock>.cpu_pct", "%", lock, lower, kDetail, "of all CPUs' time: waiting for it"},
    {"locks.<lock>.total", "", lock, neither, kDetail, "acquisitions, with the waits under way at the end"},
    {"locks.<lock>.nowait", "", lock, neither, kDetail, "acquisitions at once"},
    {"locks.<lock>.spin", "", lock, lower, kDetail,
     "acquisitions that had to wait; a wait under way at the end counts with its length so far"},
    {"locks.<lock>.handoff_mean_ns", "ns", lock, lower, kDetail,
     "from the beginning of a release to the next hold, where somebody waited for it; missing if nobody did"},
    {"locks.<lock>.waiting", "", lock, lower, kDetail, "waits under way at the end; missing if there are none"},
    {"locks.<lock>.rjct", "", lock, lower, kDetail, "`try_acquire` that failed, readers that had to read again"},
    {"locks.<lock>.<call_site>.con_pct", "%", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.wait_mean_us", "us", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.wait_max_us", "us", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.hold_mean_us", "us", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.hold_max_us", "us", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.util_pct", "%", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.cpu_pct", "%", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.total", "", lock, neither, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.nowait", "", lock, neither, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.spin", "", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.<call_site>.rjct", "", lock, lower, kDetail, kOfCallSite},
    {"locks.<lock>.races", "", lock, lower, kDetail,
     "of lock `none`: sections that overlapped another CPU's, readers beside readers not counted"},
    {"locks.<lock>.first_race.at_us", "us", lock, neither, kDetail, "when the first of lock `none`'s races was"},
    {"locks.<lock>.first_race.inside_cpu", "", lock, neither, kDetail,
     "the CPU that was in its section at the first of lock `none`'s races"},
    {"locks.<lock>.first_race.entering_cpu", "", lock, neither, kDetail, "the CPU that entered then"},

    // ---- CPUs, buses, links ----
    {"cpi.kernel", "", cpu, lower, kHeadline,
     "cycles / instructions of the kernel's functions; a memory operation counts as one instruction, a spin's loads too"},
    {"cpi.user", "", cpu, lower, kHeadline, "cycles / instructions of user code's functions, counted alike"},
    {"time.system_pct", "%", cpu, neither, kDetail, "of all CPUs' time: in the kernel"},
    {"time.user_pct", "%", cpu, neither, kDetail, "of all CPUs' time: in user code"},
    {"time.idle_pct", "%", cpu, neither, kDetail, "of all CPUs' time: CPUs that sleep or whose program has ended"},
    {"profile.<function>.time_pct", "%", cpu, neither, kDetail,
     "of the kernel's time: in that function itself. Spinning counts in a function of its own where the workload names one, as "
     "kernels spin out of line (`text_lock_dcache`)"},
    {"footprint.time_pct", "%", cpu, lower, kHeadline,
     "of all CPUs' time: waiting for code or for translations of addresses. Only where `[footprint]` of the machine is on, as "
     "the rest of `footprint`"},
    {"footprint.tlb_misses", "", cpu, lower, kDetail, "addresses whose page no entry of the core's data TLB translated"},
    {"footprint.code_misses", "", cpu, lower, kDetail, "lines of code that were not in the core's cache of code"},
    {"footprint.<function>.tlb_misses", "", cpu, lower, kDetail, "of that function's accesses alone"},
    {"footprint.<function>.code_misses", "", cpu, lower, kDetail, "of that function's code alone"},
    {"bus.utilisation_pct", "%", traffic, lower, kHeadline, "share of the data clocks in use; of several buses the mean"},
    {"bus.address_utilisation_pct", "%", traffic, lower, kDetail,
     "share of the address slots in use; of several buses the mean"},
    {"bus.transactions", "", traffic, lower, kDetail, "transactions on all buses"},
    {"link.<a>_<b>.utilisation_pct", "%", traffic, lower, kDetail,
     "of the link from node a to node b; a number beyond the nodes' is the switch of a crossbar. 0 where the link has no limit "
     "of its own"},
    {"link.<a>_<b>.mb_per_s", "MB/s", traffic, neither, kDetail,
     "what the same link carried: headers and lines; 10^6 bytes a second"},

    // ---- misses and their latency ----
    {"latency.kernel_offchip.mean_ns", "ns", latency, lower, kHeadline,
     "mean over the kernel's off-chip misses: those that somebody outside the core supplied with data. Upgrades are none"},
    {"latency.user_offchip.mean_ns", "ns", latency, lower, kHeadline, "mean over user code's off-chip misses"},
    {"latency.kernel_l1_misses.mean_ns", "ns", latency, lower, kHeadline,
     "mean over all the kernel's misses of L1: those off chip, and hits in the core's outer caches with their latency"},
    {"latency.user_l1_misses.mean_ns", "ns", latency, lower, kHeadline, "mean over all user code's misses of L1"},
    {"latency.l<i>.count", "", latency, neither, kDetail, "hits in the own cache of that level"},
    {"latency.l<i>.mean_ns", "ns", latency, lower, kDetail, "mean latency of these hits: the level's"},
    {"latency.l<i>.peak_ns", "ns", latency, lower, kDetail, "the most frequent latency of these hits: the level's"},
    {"latency.<source>.count", "", latency, neither, kDetail, "accesses with that source"},
    {"latency.<source>.mean_ns", "ns", latency, lower, kHeadline,
     "mean latency of accesses with that source, of a miss from the first attempt to the operation's start"},
    {"latency.<source>.peak_ns", "ns", latency, lower, kDetail,
     "the most frequent latency of accesses with that source, of the smoothed histogram"},
    {"latency.<kind>.<source>.count", "", latency, neither, kDetail,
     "accesses of that kind alone, `kernel` or `user`, with that source; hits too"},
    {"latency.<kind>.<source>.mean_ns", "ns", latency, lower, kDetail,
     "mean latency of accesses of that kind with that source"},
    {"latency.<kind>.<source>.peak_ns", "ns", latency, lower, kDetail,
     "the most frequent latency of accesses of that kind with that source"},
    {"latency.kernel_us_per_operation", "us", latency, lower, kDetail,
     "latency of all the kernel's misses that somebody supplied, and of upgrades, over the operations of "
     "`throughput.operations_per_s`"},
    {"misses.local_share_pct", "%", latency, higher, kDetail,
     "of the kernel's off-chip misses of loads and atomic operations: supplied in the requester's node, wherever the line's "
     "home is"},
    {"latency.local_share_pct", "%", latency, higher, kDetail,
     "of these misses' latency: of those supplied in the requester's node"},
    {"misses.kernel_c2c_share_pct", "%", latency, neither, kDetail,
     "of the kernel's off-chip misses of loads and atomic operations: supplied by caches"},
    {"misses.top500_share_pct", "%", latency, neither, kDetail,
     "of the kernel's off-chip misses of loads and atomic operations: on the 500 lines with the most latency. Lines of plain "
     "arrays are not told apart and are none of them"},
    {"latency.top500_share_pct", "%", latency, neither, kDetail, "of these misses' latency: on the same 500 lines"},
    {"latency.peaks.count", "", latency, neither, kDetail,
     "peaks of the kernel's off-chip misses of loads and atomic operations, all sources in one histogram"},
    {"latency.peaks.<i>.latency_ns", "ns", latency, neither, kDetail,
     "where that peak is; they are numbered from 1, by latency"},
    {"latency.peaks.<i>.height", "%/ns", latency, neither, kDetail,
     "that peak's height: the share of the misses in each nanosecond there"},
    {"latency.user_peaks.count", "", latency, neither, kDetail,
     "peaks of user code's off-chip misses of loads and atomic operations"},
    {"latency.user_peaks.<i>.latency_ns", "ns", latency, neither, kDetail, "where that peak of user code's is"},
    {"latency.user_peaks.<i>.height", "%/ns", latency, neither, kDetail, "the height of that peak of user code's"},
});

}  // namespace

std::span<const MetricDeclaration> all_metrics() {
  return kMetrics;
}

}  // namespace linebounce::sim
