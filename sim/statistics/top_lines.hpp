// The values of figure 2 of OLS 2007: the worst lines' share of the kernel's misses, and the subsystems that own these lines.
#pragma once

#include "sim/statistics/miss_table.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

// Adds misses.top500_share_pct, latency.top500_share_pct and subsystem.<name>.{misses,latency}_pct; nothing if the kernel has
// no misses. Excludes upgrades and stores, as the local shares do. Also adds latency.top500_transfers_share_pct and
// subsystem.<name>.transfers_latency_pct: these count only transfers between caches, as the paper's figure does.
void add_top_lines(const MissTable& misses, const workloads::AddressSpace& memory, workloads::MetricSink& metrics);
void declare_top_lines(workloads::MetricSink& metrics);

}  // namespace linebounce::sim
