// locks.csv and the metrics of locks, from what the locks of a run have counted.
#pragma once

#include "models/timebase.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using namespace workloads;

// A row for each lock and for each function that took it; `measured` ticks on `cpus` CPUs.
void collect_locks(const LockSet& locks, const AddressSpace& memory, const Timebase& timebase, Tick measured, int cpus,
                   PointData& point);
void declare_lock_metrics(MetricSink& metrics);

}  // namespace linebounce::sim
