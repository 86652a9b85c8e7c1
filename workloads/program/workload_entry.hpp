// A workload's entry in all_workloads(). The workload's own .cpp file defines the entry.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// A metric that reports show first, with its column heading without the unit, such as "wait".
struct Headline {
  std::string metric;
  std::string label;
};

struct WorkloadEntry {
  std::string name;
  std::string title;
  std::vector<ParameterDeclaration> parameters;
  std::unique_ptr<Workload> (*create)(const Parameters&);
  std::vector<Headline> headlines = {};  // the most important first; reports add general metrics if there are fewer than three
};

template <class Made>
std::unique_ptr<Workload> make_workload(const Parameters& parameters) {
  return std::make_unique<Made>(parameters);
}

// Headlines shared by several workloads.
namespace headlines {
inline const Headline kOperations = {"throughput.operations_per_s", "operations"};
inline const Headline kLeastCpu = {"fairness.least_share_pct", "slowest/fastest CPU"};
inline const Headline kLatency = {"latency.kernel_us_per_operation", "latency"};
inline const Headline kLocal = {"misses.local_share_pct", "local misses"};
inline const Headline kDcacheLock = {"locks.dcache_lock.con_pct", "dcache_lock CON"};
}  // namespace headlines

}  // namespace linebounce::workloads
