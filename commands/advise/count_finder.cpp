#include "commands/advise/count_finder.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/lines/rank_correlation.hpp"
#include "sim/replay/pace_range.hpp"
#include "sim/replay/replay_study.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

class CountFinder {
 public:
  CountFinder(const StudyArguments& arguments, int orders, const std::string& machine, const trace::Reader& reader,
              const std::vector<std::string>& argv)
      : arguments_(arguments), orders_(orders), argv_(argv) {
    study_ = {.name = "counts", .title = "Other counters", .machine = machine, .trace = reader.file(), .sets = arguments.sets};
    const Plan plan = plan_of(study_);
    directory_ = fs::path(arguments.directory) / plan.experiment.machine_name;
    range_ = pace_range(reader.summary(), plan.make_point(0).input.machine.cpu, study_.sets);
  }

  std::vector<TriedCount> find(std::vector<CountCure> cures, ExitCode& code) {
    std::vector<TriedCount> tried = in_orders(std::move(cures), {1, orders_}, code);
    confirm(tried, code);
    return tried;
  }

 private:
  // Replays the cures in the given orders; returns those whose replays finished.
  std::vector<TriedCount> in_orders(std::vector<CountCure> cures, const OrderRange& range, ExitCode& code) {
    toml::array choices{""};
    for (const CountCure& cure : cures) choices.push_back(text_of(cure.choices));
    study_.sweep = {{"workload.count", choices}};
    repeat_in_orders(study_, range.first, range.count);
    const auto points = run_study(plan_of(study_), trial_options(arguments_, directory_ / study_.name, argv_), code);
    std::vector<TriedCount> tried;
    if (!points) return tried;
    const TrialsInOrders trials(*points, range.count);
    for (std::size_t i = 0; i < cures.size() && trials.are_enough(); ++i) {
      if (!trials.finished(i + 1)) continue;
      tried.push_back({.cure = std::move(cures[i]),
                       .change = trials.change(i + 1),
                       .misses_before = median(trials.figures(0, transfers_of)),
                       .misses_after = median(trials.figures(i + 1, transfers_of))});
    }
    return tried;
  }

  // Runs the promising cures again, in orders that were not used to choose them.
  void confirm(std::vector<TriedCount>& tried, ExitCode& code) {
    std::vector<CountCure> promising;
    for (const TriedCount& it : tried) {
      if (it.change.promise_pct() > 0) promising.push_back(it.cure);
    }
    if (promising.empty() || code == ExitCode::interrupted) return;
    study_.name = "confirmed";
    for (TriedCount& again : in_orders(promising, {orders_ + 1, orders_}, code)) {
      again.confirmed = again.change.is_gain();
      const auto is_it = [&again](const TriedCount& known) { return known.cure.what == again.cure.what; };
      *std::ranges::find_if(tried, is_it) = std::move(again);
    }
    over_pace(tried, code);
  }

  // Repeats confirmed gains at both ends of the program's pace.
  void over_pace(std::vector<TriedCount>& tried, ExitCode& code) {
    std::vector<CountCure> confirmed;
    for (const TriedCount& it : tried) {
      if (it.confirmed) confirmed.push_back(it.cure);
    }
    if (confirmed.empty() || !range_ || code == ExitCode::interrupted) return;
    const ReplayStudy usual = study_;
    std::vector<std::vector<TriedCount>> ends;
    for (const PaceEnd end : kPaceEnds) {
      study_ = at_end(usual, *range_, end);
      ends.push_back(in_orders(confirmed, {orders_ + 1, 2}, code));
    }
    study_ = usual;
    for (TriedCount& it : tried) {
      const auto is_it = [&it](const TriedCount& other) { return other.cure.what == it.cure.what; };
      const auto fast = std::ranges::find_if(ends.front(), is_it), slow = std::ranges::find_if(ends.back(), is_it);
      if (!it.confirmed || fast == ends.front().end() || slow == ends.back().end()) continue;
      it.change.over_pace = GainOverPace{fast->change.median_pct, slow->change.median_pct};
    }
  }

  const StudyArguments& arguments_;
  int orders_;
  const std::vector<std::string>& argv_;
  fs::path directory_;
  ReplayStudy study_;
  std::optional<PaceRange> range_;
};

}  // namespace

std::vector<TriedCount> try_counts(const StudyArguments& arguments, int orders, const std::string& machine,
                                   const TimeAccount& account, const trace::Reader& reader,
                                   const std::vector<std::string>& argv, ExitCode& code) {
  std::vector<CountCure> cures = count_cures(account, reader);
  if (cures.empty()) return {};
  return CountFinder(arguments, orders, machine, reader, argv).find(std::move(cures), code);
}

}  // namespace linebounce::sim
