#include "sim/plan/check_traces.hpp"

#include <fmt/format.h>

#include <map>

#include "trace/check.hpp"
#include "trace/recover.hpp"

namespace linebounce::sim {

void check_traces(const Plan& plan, const std::vector<int>& points) {
  std::map<std::string, bool> files;  // and whether they are checked
  for (const int number : points) {
    const SimulationInput& input = plan.points[static_cast<std::size_t>(number)].input;
    if (input.trace.empty()) continue;
    bool& checked = files[input.trace];
    checked = checked || !input.parameters.flag("recover");
  }
  for (const auto& [file, checked] : files) {
    trace::Reader reader(file, {.recover = !checked});
    if (!checked) trace::keep_what_makes_sense(reader);
    if (reader.operations() == 0) throw trace::TraceError(fmt::format("{}: there is no operation to replay", file));
    if (checked) trace::check(reader);
  }
}

}  // namespace linebounce::sim
