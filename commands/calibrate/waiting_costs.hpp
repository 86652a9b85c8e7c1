// Fits the costs of waiting to linebounce-probe's measurements: how long an owner holds a line, what it costs to invalidate
// copies, how long a home keeps a line busy, and how siblings slow each other down. Simulates the workload contended_line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "commands/calibrate/fitted_tables.hpp"
#include "commands/calibrate/own_costs.hpp"
#include "commands/calibrate/probe_file.hpp"
#include "commands/calibrate/simulated_apart.hpp"
#include "commands/calibrate/value_search.hpp"
#include "models/machine_layout.hpp"

namespace linebounce::sim {

class WaitingCosts {
 public:
  // `file_cpu`: by the machine's CPU, its number in the file's matrix. `source`: the text for [sources] of values that are
  // set here. `simulated`: called with the number of simulated machines. REQUIRES: `probe` and `machine` outlive this object.
  WaitingCosts(const ProbeFile& probe, MachineTables& machine, const std::vector<int>& file_cpu, std::string source,
               int at_once, std::function<void(int)> simulated);

  // REQUIRES: calls in this order, after the fit of the machine's latencies. Those that return bool return true if they have
  // set a value; the latencies should then be fitted again.
  bool fit_invalidation();
  bool fit_intervention();
  // Lowers what fit_invalidation() has set by `ns`, by which hand-offs of the matrix have become too long.
  bool invalidate_sooner(double ns);
  void fit_contended();

  [[nodiscard]] std::vector<ChangedNumber> changed() const { return machine_.changed(); }
  [[nodiscard]] const std::vector<ComparedCost>& fitted() const { return fitted_; }
  [[nodiscard]] const std::vector<ComparedCost>& predictions() const { return predictions_; }
  // For each parameter a sentence: what it was fitted to and how well, or why it was not fitted.
  [[nodiscard]] std::vector<std::string> said() const;

 private:
  // A measured row, with CPUs numbered as in the machine.
  struct Row {
    const ProbedWaiting* measured = nullptr;
    std::vector<int> cpus;
    int buses = 1, nodes = 1;
    bool fitted = false;  // true if a parameter was fitted to this row
  };
  using Rows = std::vector<Row*>;

  void add_row(const ProbedWaiting& measured, const MachineLayout& layout, const std::vector<int>& machine_cpu);
  [[nodiscard]] Rows rows_of(const std::function<bool(const Row&)>& wanted);
  [[nodiscard]] static std::string measurements_text(const Rows& rows);
  [[nodiscard]] std::vector<std::vector<double>> simulated(const Rows& rows, const std::vector<Changes>& candidates) const;
  [[nodiscard]] std::vector<double> off(const Rows& rows, const std::vector<Changes>& candidates) const;
  [[nodiscard]] FoundValue find(const std::string& path, const std::vector<double>& values, int steps_per_unit,
                                const Rows& rows, const Changes& fixed = {}) const;

  void fit_siblings();
  void fit_share(const std::string& path, const char* operation, const char* what);
  void fit_hold(const Rows& rows);
  void fit_busy(const Rows& rows);
  void fit_held_and_busy();
  [[nodiscard]] Rows apart_from_home(const Rows& rows) const;
  // Sets the found value and returns true, or records why the present value stays.
  bool take(const std::string& path, const FoundValue& found, const std::vector<double>& tried, const Rows& rows,
            const std::string& fitted_to);
  bool stays(const std::string& path, const std::string& why);
  void say(const std::string& path, const std::string& text);
  void compare();
  [[nodiscard]] static std::string name_of(const Row& row);
  [[nodiscard]] std::string family_text() const;

  const ProbeFile& probe_;
  FittedTables machine_;
  int at_once_;
  std::function<void(int)> tick_;
  std::vector<ProbedWaiting> loads_;  // loads of modified lines, named as in the workload contended_line
  std::vector<Row> rows_;
  std::vector<ComparedCost> fitted_, predictions_;
  std::vector<std::pair<std::string, std::string>> by_path_;  // the latest sentence for each parameter
};

}  // namespace linebounce::sim
