// Which CPU replays which of a trace's threads.
#pragma once

#include <string>
#include <vector>

#include "trace/symbols.hpp"

namespace linebounce::workloads {

struct ThreadMap {
  std::vector<std::vector<std::uint32_t>> streams;  // by CPU: its threads, in the order of the trace
  std::vector<int> cpu_of;                          // by the number of a CPU that was recorded
};

// `text`: one_each, round_robin, block, or the CPU of each thread: "0 0 1 1". `file`: the trace, for messages.
// Errors: trace::TraceError for more threads than CPUs with one_each, and for threads that cannot share a CPU;
// std::invalid_argument for a text that fits neither trace nor machine.
ThreadMap map_threads(const trace::Symbols& symbols, const std::string& text, int cpus, const std::string& file);

}  // namespace linebounce::workloads
