// Derives metrics from latency histograms: counts, means, modes, peaks, and the share of misses served within the requester's
// node.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "sim/statistics/peaks.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

// By kind ("kernel" or "user") and source, as in latency.csv. No histogram is empty.
using LatencyBins = std::map<std::pair<std::string, std::string>, Histogram>;

// `reads`: the part of `bins` that counts loads and atomic operations. Local shares and peaks use only these, because OLS 2007
// sampled reads of data. `to_ns` converts CPU cycles to nanoseconds.
void add_latency_metrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                         workloads::MetricSink& metrics);

}  // namespace linebounce::sim
