// A parameter with a value for each CPU, such as one CPU that requests the lock a hundred times as often as the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace linebounce::workloads {

// Parses "0:50000 1-7:500" (a CPU or a range, then cycles). Other CPUs get `otherwise`. `parameter` is the name for errors.
// Errors: std::invalid_argument, "workload.PARAMETER: ..." with the legal form, for any other form, a CPU named twice, or an
// unknown CPU.
std::vector<std::int64_t> cycles_by_cpu(const std::string& parameter, const std::string& text, std::int64_t otherwise,
                                        int cpus);

}  // namespace linebounce::workloads
