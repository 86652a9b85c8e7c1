// The measurements of the workload contended_line, under the names that its parameter and linebounce-probe's file use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::workloads {

inline constexpr int kMostBetweenCycles = 1'000'000;

// The legal names: "shared_store", "fetch_add" and so on.
std::vector<std::string> contended_operations();
// The smallest number of CPUs for a measurement. REQUIRES: one of contended_operations().
int least_cpus(std::string_view operation);

}  // namespace linebounce::workloads
