// The recorded steps of one run: the source of the document, the sentences and the moments.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "commands/steps/step.hpp"
#include "commands/steps/step_recorder.hpp"
#include "sim/config/experiment.hpp"
#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

constexpr std::size_t kMostSteps = 200'000;  // the default limit

struct RecordedSteps {
  // The exit code, and the message that the program would print.
  ExitCode exit = ExitCode::done;
  std::string error = {};
  bool cut = false;  // true if the run was stopped early, because it reached the limit of steps

  // The simulated point. `known`: false if the experiment could not be read.
  bool known = false;
  SimulationInput input = {};
  std::size_t points = 1;  // number of points in the experiment's sweep, of which the first one runs
  std::vector<std::pair<std::string, ConfigValue>> at = {};
  std::vector<std::string> assumptions = {};  // assumptions about the machine, as assumptions_of() words them
  std::vector<CpuPlace> places = {};          // by CPU
  StepRecorder::Facts facts = {};
  PointData results = {};  // only of a run that reached its end

  std::vector<RunStep> steps = {};  // in their total order

  // Values of an accessed word; one element for each of facts.words, in the same order.
  struct WordValues {
    Value first = 0;
    Value last = 0;
  };
  std::vector<WordValues> word_values = {};

  [[nodiscard]] const ControllerTable& table(Controller controller) const;
  [[nodiscard]] double tick_ns() const;  // a tick's length
  [[nodiscard]] LineAddr line_of(Address address) const { return LineAddr(address / static_cast<Address>(facts.line_bytes)); }
};

// Runs the first point of an experiment (a name, a TOML file, or a Lua program or lock), and keeps its first `most` steps. If
// the experiment can't be read or the run fails, sets `exit` and `error`, and keeps the steps up to there.
RecordedSteps record_steps(const std::string& experiment, const Overrides& overrides = {}, std::size_t most = kMostSteps);

// The same for the point that `make_point` makes, of an experiment of one point.
RecordedSteps record_point(const std::function<Point()>& make_point, std::size_t most);

}  // namespace linebounce::sim
