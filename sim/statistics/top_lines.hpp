// OLS 2007, figure 2: the share of the kernel's misses on the worst lines, and the subsystems that own these lines.
#pragma once

#include "sim/statistics/miss_table.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

// Adds misses.top500_share_pct, latency.top500_share_pct, subsystem.<name>.{misses,latency}_pct; nothing if the kernel has no
// misses. Upgrades and stores are left out, as in the local shares. The same for transfers between caches alone, as in the
// paper's figure: latency.top500_transfers_share_pct, subsystem.<name>.transfers_latency_pct.
void add_top_lines(const MissTable& misses, const workloads::AddressSpace& memory, workloads::MetricSink& metrics);
void declare_top_lines(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
