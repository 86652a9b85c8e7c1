#include "commands/steps/step_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "commands/steps/names.hpp"
#include "models/text/fields.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

using LogFields = std::map<std::string, std::string, std::less<>>;

std::string filled_line(const std::string& form, const LogFields& fields) {
  try {
    return fill_fields(form, [&fields](std::string_view name) {
      const auto found = fields.find(name);
      if (found != fields.end()) return found->second;
      std::vector<std::string> known;
      for (const auto& [one, value] : fields) known.push_back(one);
      throw std::invalid_argument(fmt::format("field \"{}\" is not known; known: {}", name, fmt::join(known, ", ")));
    });
  } catch (const std::invalid_argument& wrong) {
    throw ConfigError(fmt::format("--log-form: {}", wrong.what()));
  }
}

}  // namespace

std::string step_log(const RecordedSteps& run, const std::string& form) {
  const Endpoints endpoints(run);
  const WordNames names(run);
  const double tick_ns = run.tick_ns();
  std::string out;
  for (const RunStep& step : run.steps) {
    if (step.kind != RunStepKind::row || step.state == step.next) continue;
    const auto controller = static_cast<Controller>(step.what);
    const ControllerTable& table = run.table(controller);
    const double ns = static_cast<double>(step.time) * tick_ns;
    out += filled_line(form, {{"ns", fmt::format("{:.3f}", ns)},
                              {"tick", std::to_string(step.time)},
                              {"where", endpoints.label(controller, step.agent)},
                              {"controller", table.name},
                              {"number", std::to_string(step.agent)},
                              {"line", fmt::format("0x{:x}", step.where * static_cast<std::uint64_t>(run.facts.line_bytes))},
                              {"name", names.line(LineAddr(step.where))},
                              {"from", table.states[step.state].name},
                              {"to", table.states[step.next].name},
                              {"event", table.events[step.event]}}) +
           "\n";
  }
  return out;
}

}  // namespace linebounce::sim
