// The measurements of the workload contended_line: its parameter and linebounce-probe's file name them in the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linebounce::workloads {

inline constexpr int kMostBetweenCycles = 1'000'000;

// "shared_store", "fetch_add" and so on.
std::vector<std::string> contended_operations();
// How many CPUs it takes. REQUIRES: one of contended_operations().
int least_cpus(std::string_view operation);

}  // namespace linebounce::workloads
