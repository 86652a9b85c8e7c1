// Makes locks.csv and the locks' metrics from statistics that the locks collected in a run.
#pragma once

#include <map>
#include <string>

#include "models/timebase.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using namespace workloads;

// Misses on the words and objects of all locks of one name.
struct LockMisses {
  std::int64_t count = 0;
  double ns_mean = 0;
  MeanWaits waits = {};
};

// Adds a row for each lock, and one for each function that acquired it. The run measured `measured` ticks on `cpus` CPUs.
void collect_locks(const LockSet& locks, const AddressSpace& memory, const Timebase& timebase, Tick measured, int cpus,
                   const std::map<std::string, LockMisses>& misses, PointData& point);
void declare_lock_metrics(MetricSink& metrics);

}  // namespace linebounce::sim
