// One case of the random tester: a machine with some of its settings changed, and random references on it. A case is an
// experiment, so what fails can be run again with `linebounce run`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"

namespace linebounce::sim {

// Where cases start from: a machine as the user names it.
struct RandomBase {
  std::string machine;                                     // a name, or an absolute path
  std::vector<std::pair<std::string, ConfigValue>> fixed;  // --set: of every case
  MachineSpec spec;                                        // with those
};

// Errors: ConfigError.
RandomBase random_base(const std::string& machine, const std::vector<std::pair<std::string, std::string>>& sets);

// A setting that differs from the machine file's or the workload's default. Those of one group make sense together only.
struct CaseSetting {
  std::string path;
  ConfigValue value;
  int group = 0;
};

struct RandomCase {
  std::vector<CaseSetting> settings;  // each path once
  std::int64_t operations = 0;        // of each CPU
  std::uint64_t seed = 1;             // of the references

  void set(const std::string& path, const ConfigValue& value, int group);
  [[nodiscard]] const CaseSetting* find(const std::string& path) const;
};

int cpus_of(const RandomBase& base, const RandomCase& random);

// As a line of an experiment's table [set].
std::string setting_line(const std::string& path, const ConfigValue& value);

// The experiment's file.
std::string experiment_text(const RandomBase& base, const RandomCase& tried, const std::string& name, const std::string& title);

// What simulate() takes. Errors: ConfigError, if the settings don't fit each other.
SimulationInput input_of(const RandomBase& base, const RandomCase& random);

}  // namespace linebounce::sim
