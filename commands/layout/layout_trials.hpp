// Replays layouts of one structure on each machine, in several orders of the same operations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/layout/layout_inputs.hpp"
#include "commands/layout/layout_report.hpp"
#include "commands/layout/structure_accesses.hpp"
#include "sim/replay/pace_range.hpp"

namespace linebounce::sim {

class LayoutTrials {
 public:
  // REQUIRES: the arguments outlive this object.
  LayoutTrials(const LayoutArguments& arguments, const LayoutInput& input, const std::vector<std::string>& argv)
      : arguments_(arguments), input_(input), argv_(argv) {}

  // Replays once on the first machine, and returns the accesses of each CPU to each member. Sets `near_lines`: see
  // SharedLineCosts.
  StructureAccesses accesses(std::size_t& near_lines);
  // The order of the CPUs' accesses to the members of `touched` under this arrangement.
  std::vector<UnitAccess> sequence(const StructureAccesses& touched, const ArrangedLayout& arranged);
  // Assumptions that the machines' files state.
  [[nodiscard]] std::vector<std::string> assumptions() const;

  // The gains over `base` (empty: the present layout), first by layout, then by machine. A layout has no gain on a machine
  // where its replays did not finish. None if interrupted or if no replay finished; `code` tells which. `end`: at this end of
  // the program's pace, which then also names the study.
  std::optional<std::vector<std::vector<LayoutGain>>> gains(const std::string& name, const std::optional<ArrangedLayout>& base,
                                                            const std::vector<ArrangedLayout>& layouts, const OrderRange& range,
                                                            ExitCode& code, std::optional<PaceEnd> end = {});
  // Notes in gains of `layout` what they are at both ends of the program's pace. Returns false if interrupted.
  bool over_pace(std::vector<LayoutGain>& gains, const std::optional<ArrangedLayout>& base, const ArrangedLayout& layout,
                 const OrderRange& range, ExitCode& code);
  // The pace_sentence() for the first machine.
  [[nodiscard]] std::string basis() const;

 private:
  [[nodiscard]] ReplayStudy study(const std::string& machine, const std::string& name) const;

  const LayoutArguments& arguments_;
  const LayoutInput& input_;
  const std::vector<std::string>& argv_;
};

}  // namespace linebounce::sim
