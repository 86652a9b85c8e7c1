// From histograms of latencies to metrics: counts, means, modes, peaks, and what of it was served in the requester's node.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "sim/statistics/peaks.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

// {kind, source} to histogram; kind "kernel" or "user", sources as latency.csv names them. None is empty.
using LatencyBins = std::map<std::pair<std::string, std::string>, Histogram>;

// `reads` has the loads and atomic operations of `bins`: the local shares and the peaks are theirs, as OLS 2007 sampled data
// reads. `to_ns` turns CPU cycles into ns.
void add_latency_metrics(const LatencyBins& bins, const LatencyBins& reads, const std::function<double(std::int64_t)>& to_ns,
                         workloads::MetricSink& metrics);

}  // namespace linebounce::sim
