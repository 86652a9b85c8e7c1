#include "commands/layout/layout_trials.hpp"

#include <algorithm>

#include "sim/lines/rank_correlation.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/own_directory.hpp"

namespace linebounce::sim {

namespace fs = std::filesystem;

ReplayStudy LayoutTrials::study(const std::string& machine, const std::string& name) const {
  return {.name = name,
          .title = "Layouts of " + input_.structure,
          .machine = machine,
          .trace = input_.reader->file(),
          .sets = arguments_.sets};
}

std::string LayoutTrials::basis() const {
  const trace::Summary& trace = input_.reader->summary();
  return pace_sentence(trace, pace_range(trace, study(input_.machines.front(), "pace")));
}

bool LayoutTrials::over_pace(std::vector<LayoutGain>& gains, const std::optional<ArrangedLayout>& base,
                             const ArrangedLayout& layout, const OrderRange& range, ExitCode& code) {
  if (!pace_range(input_.reader->summary(), study(input_.machines.front(), "pace"))) return true;
  std::vector<std::vector<LayoutGain>> ends;
  for (const PaceEnd end : kPaceEnds) {
    auto there = this->gains("pace", base, {layout}, range, code, end);
    if (!there) return false;
    ends.push_back(std::move(there->front()));
  }
  for (LayoutGain& gain : gains) {
    const auto fast = std::ranges::find(ends.front(), gain.machine, &LayoutGain::machine);
    const auto slow = std::ranges::find(ends.back(), gain.machine, &LayoutGain::machine);
    if (fast != ends.front().end() && slow != ends.back().end())
      gain.change.over_pace = GainOverPace{fast->change.median_pct, slow->change.median_pct};
  }
  return true;
}

StructureAccesses LayoutTrials::accesses(std::size_t& near_lines) {
  const SimulationInput input = plan_of(study(input_.machines.front(), "accesses")).make_point(0).input;
  near_lines = 0;
  for (const CacheSpec& cache : input.machine.caches)
    near_lines += static_cast<std::size_t>(cache.size_kib) * 1024 / static_cast<std::size_t>(input_.line_bytes);
  return structure_accesses(input, input_.layout());
}

std::vector<UnitAccess> LayoutTrials::sequence(const StructureAccesses& touched, const ArrangedLayout& arranged) {
  ReplayStudy again = study(input_.machines.front(), "accesses");
  again.layout_changes = arranged.change;
  return sequence_in(plan_of(again).make_point(0).input, arranged.layout, touched.units);
}

std::vector<std::string> LayoutTrials::assumptions() const {
  std::vector<std::string> all;
  for (const std::string& machine : input_.machines) {
    for (const std::string& sentence : plan_of(study(machine, "assumptions")).experiment.assumptions) {
      if (std::ranges::find(all, sentence) == all.end()) all.push_back(sentence);
    }
  }
  return all;
}

std::optional<std::vector<std::vector<LayoutGain>>> LayoutTrials::gains(const std::string& name,
                                                                        const std::optional<ArrangedLayout>& base,
                                                                        const std::vector<ArrangedLayout>& layouts,
                                                                        const OrderRange& range, ExitCode& code,
                                                                        std::optional<PaceEnd> end) {
  std::vector<std::vector<LayoutGain>> gains(layouts.size());
  for (const std::string& machine : input_.machines) {
    ReplayStudy trials = study(machine, name);
    if (end) trials = at_end(trials, pace_range(input_.reader->summary(), trials).value(), *end);
    toml::array choices{base ? base->name : "none"};
    if (base) trials.layout_changes += base->change;
    for (const ArrangedLayout& layout : layouts) {
      trials.layout_changes += layout.change;
      choices.push_back(layout.name);
    }
    trials.sweep = {{"layout.changes", choices}};
    repeat_in_orders(trials, range.first, range.count);
    const Plan plan = plan_of(trials);
    const std::string& known_as = plan.experiment.machine_name;
    const fs::path directory = inner_path(inner_path(arguments_.directory, known_as), trials.name);
    const auto points = run_study(plan, run_options(arguments_, directory, argv_), code);
    if (!points) return std::nullopt;
    const TrialsInOrders runs(*points, range.count);
    for (std::size_t i = 0; i < layouts.size() && runs.are_enough(); ++i) {
      if (!runs.finished(i + 1)) continue;
      gains[i].push_back(
          {known_as, runs.change(i + 1), median(runs.figures(0, misses_of)), median(runs.figures(i + 1, misses_of))});
    }
  }
  return gains;
}

}  // namespace linebounce::sim
