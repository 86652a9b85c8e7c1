// Machine files: reading them, and describing all parameters.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/machine_history.hpp"

namespace linebounce::sim {

// A parameter of a machine as `describe machine NAME` lists it.
struct DescribedParameter {
  std::string path;  // "machine.memory.latency_ns"
  std::string value;
  std::string unit;  // "ns"; empty where there is none
  std::string meaning;
  std::string source;  // the file's [sources] entry, or "assumed (no source given)"
  bool has_source = false;
  Setting::From from = Setting::From::schema;
};

struct DescribedMachine {
  MachineSpec spec;
  std::vector<DescribedParameter> parameters;  // leaves out parameters of nodes if the machine has one bus
  std::vector<HistoryEntry> history;           // in the order of the file
  std::vector<std::string> assumptions;        // worded by assumptions_of()
};

// Reads configs/machines/NAME.toml or a path. Errors: ConfigError (sim/config/experiment.hpp).
DescribedMachine load_machine(const std::string& name_or_path);
// The same from the text of a file; messages call it `file`.
DescribedMachine read_machine(const std::string& text, const std::string& file);

// Names of the machine files in configs/machines, sorted.
std::vector<std::string> machine_names();

}  // namespace linebounce::sim
