#include "sim/plan/check_traces.hpp"

#include <set>

#include "trace/check.hpp"

namespace linebounce {

void check_traces(const Plan& plan, const std::vector<int>& points) {
  std::set<std::string> files;
  for (const int number : points) {
    const SimulationInput& input = plan.points[static_cast<std::size_t>(number)].input;
    if (!input.trace.empty() && !input.parameters.flag("recover")) files.insert(input.trace);
  }
  for (const std::string& file : files) trace::check(trace::Reader(file));
}

}  // namespace linebounce
