// Makes metrics of latency histograms: counts, means, modes, peaks, and the share served in the requester's node.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "sim/statistics/peaks.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

// Keys: kind ("kernel" or "user") and source, as in latency.csv. No histogram is empty.
using LatencyBins = std::map<std::pair<std::string, std::string>, Histogram>;

// `reads`: those of `bins` that are loads or atomic operations. The local shares and the peaks are computed from them,
// because OLS 2007 sampled reads of data. `to_ns` converts CPU cycles to ns.
void add_latency_metrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                         workloads::MetricSink& metrics);

}  // namespace linebounce::sim
