#include "sim/statistics/cpi_rows.hpp"

#include <algorithm>
#include <utility>

#include "models/ordinal.hpp"

namespace linebounce::sim {
namespace {

// Rounds a CPU's intervals to whole cycles that add up correctly: each begins at the rounded end of the previous one.
class WholeCycles {
 public:
  explicit WholeCycles(Tick cycle) : cycle_(cycle) {}
  std::int64_t take(Tick ticks) {
    ticks_ += ticks;
    return ticks_ / cycle_ - std::exchange(cycles_, ticks_ / cycle_);
  }

 private:
  Tick cycle_;
  Tick ticks_ = 0;
  std::int64_t cycles_ = 0;
};

struct FunctionTime {
  std::string function;
  std::int64_t instructions = 0;
  TimeParts parts{};
};

void add_cpu(int cpu, std::vector<FunctionTime> functions, Tick cycle, std::vector<CpiRow>& rows) {
  std::ranges::sort(functions, {}, &FunctionTime::function);
  WholeCycles whole(cycle);
  for (FunctionTime& of : functions) {
    CpiRow row{.cpu = cpu, .function = std::move(of.function), .instructions = of.instructions};
    for (std::size_t part = 0; part < of.parts.size(); ++part) row.parts[part] = whole.take(of.parts[part]);
    if (row.cycles() + row.instructions > 0) rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<CpiRow> cpi_rows(Machine& machine, const workloads::AddressSpace& memory) {
  const CoreSpec& core = machine.core_spec();
  std::vector<CpiRow> rows;
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    const ThreadCounters& counters = machine.cpu(cpu).counters();
    std::vector<FunctionTime> functions;
    Tick idle = machine.measured();
    for (std::size_t function = 0; function < counters.by_function.size(); ++function) {
      functions.push_back({memory.functions()[function].name, counters.by_function[function].instructions,
                           time_parts(counters, static_cast<FunctionId>(function), core.hit_latency)});
      for (const Tick ticks : functions.back().parts) idle -= ticks;
    }
    functions.front().parts[ordinal(TimePart::ended)] = idle;  // the first entry is time outside all functions
    add_cpu(cpu, std::move(functions), core.cycle, rows);
  }
  return rows;
}

}  // namespace linebounce::sim
