// Replays layouts of one structure on one machine after another, in several orders of the same operations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/commands/layout/layout_inputs.hpp"
#include "sim/studies/layout/structure_accesses.hpp"
#include "sim/terminal/layout_report.hpp"

namespace linebounce::sim {

class LayoutTrials {
 public:
  // REQUIRES: all arguments outlive this.
  LayoutTrials(const LayoutArguments& arguments, const LayoutInput& input, const std::vector<std::string>& argv)
      : arguments_(arguments), input_(input), argv_(argv) {}

  // Replays once on the first machine, and returns which CPUs access which members. `near_lines`: see SharedLineCosts.
  StructureAccesses accesses(std::size_t& near_lines);
  // The order in which CPUs access the members of `touched` if they are arranged like this.
  std::vector<UnitAccess> sequence(const StructureAccesses& touched, const ArrangedLayout& arranged);
  // The assumptions that the machines' files state.
  [[nodiscard]] std::vector<std::string> assumptions() const;

  // The gain of each layout over `base` (empty: the present layout), by layout and machine. If a layout's replays did not
  // finish on a machine, it has no gain there. Returns none if interrupted, or if nothing has finished; `code` says which.
  std::optional<std::vector<std::vector<LayoutGain>>> gains(const std::string& name, const std::optional<ArrangedLayout>& base,
                                                            const std::vector<ArrangedLayout>& layouts, const OrderRange& range,
                                                            ExitCode& code);

 private:
  [[nodiscard]] ReplayStudy study(const std::string& machine, const std::string& name) const;

  const LayoutArguments& arguments_;
  const LayoutInput& input_;
  const std::vector<std::string>& argv_;
};

}  // namespace linebounce::sim
