// One run of one experiment, step by step, kept: what the document, the sentences and the moments are made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/steps/step.hpp"
#include "sim/steps/step_recorder.hpp"

namespace linebounce::sim {

constexpr std::size_t kMostSteps = 200'000;  // unless a user says otherwise

struct RecordedSteps {
  // How the run ended, and what the program would say of it.
  ExitCode exit = ExitCode::done;
  std::string error = {};
  bool cut = false;  // it was stopped behind its first so many steps

  // Of what runs: empty where the experiment could not be read.
  bool known = false;
  SimulationInput input = {};
  std::size_t points = 1;  // of the experiment's sweep, the first of which runs
  std::vector<std::pair<std::string, ConfigValue>> at = {};
  std::vector<std::string> assumptions = {};  // about the machine, as assumptions_of() words them
  std::vector<CpuPlace> places = {};          // by CPU
  StepRecorder::Facts facts = {};
  PointData results = {};  // of a run that has come to its end

  std::vector<RunStep> steps = {};  // in their total order

  // The value of each word that was accessed, by facts.words' order.
  struct WordValues {
    Value first = 0;
    Value last = 0;
  };
  std::vector<WordValues> word_values = {};

  [[nodiscard]] const ControllerTable& table(Controller controller) const;
  [[nodiscard]] LineAddr line_of(Address address) const { return LineAddr(address / static_cast<Address>(facts.line_bytes)); }
};

// Runs the first point of an experiment (a name, a TOML file, a program or lock in Lua), and keeps at most `most` of its steps.
// Once in a process. An experiment that can't be read, and a run that fails, are told in `exit` and `error`: what was recorded
// until then is there.
RecordedSteps record_steps(const std::string& experiment, const Overrides& overrides = {}, std::size_t most = kMostSteps);

}  // namespace linebounce::sim
