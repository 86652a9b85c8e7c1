// A machine's tables during a fit. Records each value that is set, and writes its source.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/config/machine_tables.hpp"

namespace linebounce::sim {

std::string short_path(const std::string& path);  // "bus.snoop_clocks" for "machine.bus.snoop_clocks"
double number_at(const Settings& settings, const std::string& path);

struct ChangedNumber {
  std::string path;  // "machine.bus.snoop_clocks"
  double before = 0, after = 0;
};

class FittedTables {
 public:
  // `source`: the text that [sources] gets for each value set here. REQUIRES: `machine` outlives this object.
  FittedTables(MachineTables& machine, std::string source) : machine_(machine), source_(std::move(source)) {}

  [[nodiscard]] MachineTables& tables() { return machine_; }
  [[nodiscard]] const MachineTables& tables() const { return machine_; }
  [[nodiscard]] MachineSpec typed() const;
  [[nodiscard]] double number(const std::string& path) const { return number_at(machine_.settings, path); }

  // Sets a value. The machine's file will state it even if it equals the contention family's. A number outside the
  // parameter's range becomes the nearest legal one.
  void set(const std::string& path, double value);
  void set(const std::string& path, const std::string& word);
  // Restores the value and the source that the parameter had before the first set().
  void restore(const std::string& path);
  // Marks the value as determined, so that later fits leave it alone.
  void keep(const std::string& path) { determined_.insert(path); }

  [[nodiscard]] const std::set<std::string>& determined() const { return determined_; }  // full paths
  [[nodiscard]] std::vector<ChangedNumber> changed() const;

 private:
  void state(const std::string& path, const ConfigValue& value);

  MachineTables& machine_;
  std::string source_;
  std::set<std::string> determined_;
  struct Before {
    Setting setting;
    std::string source;  // empty: none
  };
  std::map<std::string, Before> before_;
};

}  // namespace linebounce::sim
