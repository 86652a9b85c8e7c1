// The registry of workloads: one line each.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {

// What a workload's file defines: NAME_workload().
using MakeWorkloadEntry = WorkloadEntry();

// In the order of `list`.
std::span<const WorkloadEntry> all_workloads();

// Errors: std::out_of_range for an unknown name; the configuration has been checked.
inline const WorkloadEntry& find_workload(const std::string& name) {
  for (const WorkloadEntry& entry : all_workloads()) {
    if (entry.name == name) return entry;
  }
  throw std::out_of_range("no workload is called " + name);
}

}  // namespace linebounce::workloads
