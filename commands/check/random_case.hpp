// A case of the random tester: random references on a machine with some changed settings. It is written as an experiment, so
// `linebounce run` repeats a failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"

namespace linebounce::sim {

// The machine that all cases are derived from.
struct RandomBase {
  std::string machine;                                     // a name, or an absolute path
  std::vector<std::pair<std::string, ConfigValue>> fixed;  // settings from --set, used in every case
  MachineSpec spec;                                        // including `fixed`
};

// Errors: ConfigError.
RandomBase random_base(const std::string& machine, const std::vector<std::pair<std::string, std::string>>& sets);

// A setting that differs from the machine's file or the workload's default. Settings of one group only make sense together.
struct CaseSetting {
  std::string path;
  ConfigValue value;
  int group = 0;
};

struct RandomCase {
  std::vector<CaseSetting> settings;  // each path occurs once
  std::int64_t operations = 0;        // of each CPU
  std::uint64_t seed = 1;             // of the references

  void set(const std::string& path, const ConfigValue& value, int group);
  [[nodiscard]] const CaseSetting* find(const std::string& path) const;
};

int cpus_of(const RandomBase& base, const RandomCase& random);

// The setting's line in an experiment's table [set].
std::string setting_line(const std::string& path, const ConfigValue& value);

// The text of the experiment's file.
std::string experiment_text(const RandomBase& base, const RandomCase& tried, const std::string& name, const std::string& title);

// The input for simulate(). Errors: ConfigError if the settings contradict each other.
SimulationInput input_of(const RandomBase& base, const RandomCase& random);

}  // namespace linebounce::sim
