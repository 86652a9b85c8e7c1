// A mean for each CPU: one CPU that wants the lock a hundred times as often as the others, or half of them idle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace linebounce::workloads {

// By CPU, from "0:50000 1-7:500" (CPU or first-last, then cycles); a CPU that the text doesn't name has `otherwise`.
// `parameter`: its name, for errors. Errors: std::invalid_argument, "workload.PARAMETER: ..." with the legal form, if the text
// has another form, names a CPU twice or one that the machine doesn't have.
std::vector<std::int64_t> cycles_by_cpu(const std::string& parameter, const std::string& text, std::int64_t otherwise,
                                        int cpus);

}  // namespace linebounce::workloads
