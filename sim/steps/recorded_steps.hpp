// The recorded steps of one run of one experiment, from which the document, the sentences and the moments are made.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/steps/step.hpp"
#include "sim/steps/step_recorder.hpp"

namespace linebounce::sim {

constexpr std::size_t kMostSteps = 200'000;  // the default limit

struct RecordedSteps {
  // How the run ended, and the message that the program would print.
  ExitCode exit = ExitCode::done;
  std::string error = {};
  bool cut = false;  // true if the run was stopped after its first steps

  // What runs. `known` is false if the experiment could not be read.
  bool known = false;
  SimulationInput input = {};
  std::size_t points = 1;  // the number of points in the experiment's sweep; only the first one runs
  std::vector<std::pair<std::string, ConfigValue>> at = {};
  std::vector<std::string> assumptions = {};  // about the machine, worded by assumptions_of()
  std::vector<CpuPlace> places = {};          // by CPU
  StepRecorder::Facts facts = {};
  PointData results = {};  // only if the run has reached its end

  std::vector<RunStep> steps = {};  // in their total order

  // The values of the accessed words, in the order of facts.words.
  struct WordValues {
    Value first = 0;
    Value last = 0;
  };
  std::vector<WordValues> word_values = {};

  [[nodiscard]] const ControllerTable& table(Controller controller) const;
  [[nodiscard]] LineAddr line_of(Address address) const { return LineAddr(address / static_cast<Address>(facts.line_bytes)); }
};

// Runs the first point of an experiment (a name, a TOML file, or a program or lock in Lua), and keeps at most `most` of its
// steps. Call it only once per process. If the experiment can't be read or the run fails, `exit` and `error` say so, and the
// steps recorded until then are kept.
RecordedSteps record_steps(const std::string& experiment, const Overrides& overrides = {}, std::size_t most = kMostSteps);

}  // namespace linebounce::sim
