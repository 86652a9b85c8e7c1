// Machine files: reading them, and describing all parameters.
#pragma once

#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/config/machine_history.hpp"

namespace linebounce::sim {

// A machine's parameter as `describe machine NAME` lists it.
struct DescribedParameter {
  std::string path;  // "machine.memory.latency_ns"
  std::string value;
  std::string unit;  // "ns"; empty where there is none
  std::string meaning;
  std::string source;  // the entry in the file's [sources], or "assumed (no source given)"
  bool has_source = false;
  Setting::From from = Setting::From::schema;
};

struct DescribedMachine {
  MachineSpec spec;
  std::vector<DescribedParameter> parameters;  // omits the parameters of nodes if the machine has one bus
  std::vector<HistoryEntry> history;           // in the order of the file
  std::vector<std::string> assumptions;        // worded by assumptions_of()
};

// Reads and checks configs/machines/NAME.toml or a path. Errors: ConfigError.
DescribedMachine load_machine(const std::string& name_or_path);
// Like load_machine(), but from the text of a file. `file`: the text's name in messages.
DescribedMachine read_machine(const std::string& text, const std::string& file);

// Names of the machine files in configs/machines, sorted.
std::vector<std::string> machine_names();

}  // namespace linebounce::sim
