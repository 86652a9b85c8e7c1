// The figures of OLS 2007, figure 2: the worst lines' share of the kernel's misses, and the subsystems that own these lines.
#pragma once

#include "sim/statistics/miss_table.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

// Adds misses.top500_share_pct, latency.top500_share_pct and subsystem.<name>.{misses,latency}_pct. Adds nothing if the
// kernel has no misses. Upgrades and stores are left out, as in the local shares. Also adds
// latency.top500_transfers_share_pct and subsystem.<name>.transfers_latency_pct, which only count transfers between caches,
// as the paper's figure does.
void add_top_lines(const MissTable& misses, const workloads::AddressSpace& memory, workloads::MetricSink& metrics);
void declare_top_lines(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
