#include "evidence/paper_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/foretold_time.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/terminal/progress_line.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

bool begins_with_any(const std::string& id, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return id.starts_with(prefix); });
}

bool has_row(const Experiment& experiment, const std::string& prefix) {
  return std::ranges::any_of(experiment.paper, [&](const PaperRow& row) { return row.id.starts_with(prefix); });
}

// Chooses by one word: the name of an experiment, or a prefix of row ids.
void choose(const std::string& word, std::vector<ChosenRows>& all) {
  bool found = false;
  std::vector<std::string> known;
  for (ChosenRows& chosen : all) {
    known.push_back(chosen.experiment.name);
    const bool named = word == chosen.experiment.name;
    if (!named && !has_row(chosen.experiment, word)) continue;
    chosen.prefixes.push_back(named ? "" : word);
    found = true;
  }
  if (found) return;
  throw ConfigError(
      fmt::format("\"{}\" is neither an experiment with figures of a paper nor the beginning of a paper row's id{}", word,
                  did_you_mean(word, known)));
}

// None of a directory that the run itself will refuse.
std::vector<int> done_in(const Plan& plan, const std::filesystem::path& directory) {
  try {
    return done_points(plan, inner_path(directory, plan.experiment.name));
  } catch (const ConfigError&) {
    return {};
  }
}

}  // namespace

bool is_validation(const std::string& experiment) {
  return experiment.starts_with("latencies/") || experiment.starts_with("validation/");
}

std::string machine_of_row(const PaperRow& row, const Experiment& experiment) {
  const auto swept = row.at.find("machine");
  if (swept == row.at.end()) return experiment.machine_name;
  return std::filesystem::path(value_text(swept->second)).stem().string();
}

std::vector<Experiment> experiments_with_rows(const std::function<bool(const std::string&)>& wanted) {
  std::vector<Experiment> experiments;
  for (const std::string& name : file_names(kExperimentFiles)) {
    if (!wanted(name)) continue;
    Experiment experiment = load_experiment(name, {});
    if (!experiment.paper.empty()) experiments.push_back(std::move(experiment));
  }
  return experiments;
}

std::vector<ChosenRows> choose_rows(std::vector<Experiment> experiments, const std::vector<std::string>& words) {
  std::vector<ChosenRows> all;
  for (Experiment& experiment : experiments) all.push_back({std::move(experiment), {}});
  if (words.empty()) {
    for (ChosenRows& chosen : all) chosen.prefixes.emplace_back();
  }
  for (const std::string& word : words) choose(word, all);
  std::erase_if(all, [](const ChosenRows& chosen) { return chosen.prefixes.empty(); });
  return all;
}

bool foretell_runs(const std::vector<ChosenRows>& chosen, RunOptions& options) {
  if (chosen.size() < 2) return true;
  InterruptGuard guard;
  std::vector<Plan> plans;
  plans.reserve(chosen.size());
  std::vector<ComingJob> jobs;
  std::size_t points = 0;
  for (const ChosenRows& each : chosen) {
    const Plan& plan = plans.emplace_back(make_plan(each.experiment));
    const std::vector<int> done =
        options.earlier == EarlierResults::used ? done_in(plan, options.directory) : std::vector<int>();
    for (const PointPlace& point : plan.points) {
      if (std::ranges::find(done, point.number) != done.end()) continue;
      ++points;
      jobs.insert(jobs.end(), plan.experiment.seeds, ComingJob{&plan, point.number});
    }
  }
  if (const auto seconds = foretold_seconds(jobs, options.simulation, options.at_once, guard))
    print_foretold(fmt::format("{}, {}", plural(chosen.size(), "experiment"), plural(points, "point")), *seconds);
  options.foretell = [](std::size_t, double) {};
  return !guard.interrupted();
}

RowsRun run_rows(const ChosenRows& chosen, const std::string& place, RunOptions options, ExitCode& code) {
  RowsRun run;
  run.plan = make_plan(chosen.experiment);
  options.directory = inner_path(options.directory, run.plan.experiment.name);
  run.directory = options.directory;
  run.report = run_with_progress(run.plan, std::move(options), place, true);
  print_failures(run.plan, run.report, run.directory);
  code = larger(code, run.report.code);
  for (const PaperResult& row : run.report.results.paper) {
    if (begins_with_any(row.row.id, chosen.prefixes)) run.rows.push_back(row);
  }
  return run;
}

}  // namespace linebounce::sim
