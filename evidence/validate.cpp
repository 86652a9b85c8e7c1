#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "evidence/paper_runs.hpp"
#include "evidence/validate_against.hpp"
#include "evidence/validation_page.hpp"
#include "models/ordinal.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kValidateFooter = R"(Examples:
  linebounce validate                      the figures that machines were fitted to, and those predicted
  linebounce validate --all                also the papers' experiments, which are otherwise shown only if they have run
  linebounce validate validation/listeners  one experiment, or rows whose id begins like this
  linebounce report out/validate           the same as a page, with a picture
  linebounce validate lock_scaling --against mine.csv --machine mine.toml
      your own measurements instead, each beside its simulated figure. The columns of mine.csv: settings by their paths
      (workload.lock, machine.cpus), metric, measured, and if you like tolerance (0.1 or 10 %)

DIR gets one folder for each experiment, and all rows in DIR/validation.json. Finished experiments are not run again. Exit code 1: a
fitted row is out of tolerance, or a measurement of yours out of the tolerance that its line states. Other rows that miss are shown
and counted.)";

struct ValidateArguments {
  std::vector<std::string> names;
  std::string directory = "out/validate";
  std::string against, machine;
  int at_once = available_cores();
  bool all = false;
  bool record = false;
  bool fresh = false;
  bool json = false;
};

std::string family_of(const Experiment& experiment) {
  if (!is_validation(experiment.name)) return std::string(kDocuments);
  if (experiment.family.empty() && experiment.name.starts_with("latencies/")) return std::string(kLatencies);
  return experiment.family;
}

void add_rows(Validation& validation, const Experiment& experiment, const std::vector<PaperResult>& rows) {
  std::map<std::string, FirstRun> first;
  if (is_validation(experiment.name)) first = read_first_runs(record_file(experiment.name));
  for (const PaperResult& result : rows) {
    ValidatedRow row{experiment.name, machine_of_row(result.row, experiment), family_of(experiment), result};
    if (const auto found = first.find(result.row.id); found != first.end()) row.first = found->second;
    validation.rows.push_back(std::move(row));
  }
  ++validation.experiments;
}

// The results in this directory; none unless they are complete and have exactly this configuration.
std::optional<std::vector<PaperResult>> results_there(const Plan& plan, const fs::path& directory) {
  if (!is_there(directory / "manifest.json") || !is_there(directory / "results.json")) return std::nullopt;
  const auto manifest = read_manifest(read_file(directory / "manifest.json"));
  if (!manifest || manifest->hash != plan.hash || manifest->status != RunStatus::complete) return std::nullopt;
  return evaluate_paper(plan, read_points(read_file(directory / "results.json")));
}

// Adds results for the five documents' experiments, wherever they exist: in this directory, in that of `reproduce`, or in the
// experiment's own.
void add_documents(Validation& validation, const std::string& directory) {
  for (Experiment& experiment : experiments_with_rows([](const std::string& name) { return !is_validation(name); })) {
    const std::string name = experiment.name;
    const Plan plan = make_plan(std::move(experiment));
    bool found = false;
    for (const fs::path& folder : {fs::path(directory), fs::path("out/reproduce"), fs::path("out")}) {
      const auto rows = results_there(plan, folder / name);
      if (!rows) continue;
      add_rows(validation, plan.experiment, *rows);
      found = true;
      break;
    }
    if (!found) validation.not_run.push_back(name);
  }
}

void record_all(const Validation& validation) {
  std::map<std::string, std::vector<ValidatedRow>> by_experiment;
  for (const ValidatedRow& row : validation.rows) {
    if (row.experiment.starts_with("validation/")) by_experiment[row.experiment].push_back(row);
  }
  for (const auto& [experiment, rows] : by_experiment) {
    const fs::path file = record_file(experiment);
    const int added = record_first_runs(file, rows, utc_now().substr(0, 10));
    if (added > 0)
      std::cerr << fmt::format("{}: {} recorded\n", file.string(), plural(static_cast<std::uint64_t>(added), "row"));
  }
}

ordered_json tally_json(const Tally& tally) {
  return {{"right", tally.right}, {"of", tally.of}};
}

ordered_json rounded_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? number_to_json(*value) : ordered_json(nullptr);
}

ordered_json validation_score_json(const ValidationScore& score) {
  return {{"rows", score.rows},
          {"figures", score.errors.size()},
          {"median_error", rounded_json(score.median_error())},
          {"median_factor", rounded_json(score.median_factor())},
          {"within_15_pct", tally_json(score.within_15)},
          {"within_30_pct", tally_json(score.within_30)},
          {"signs", tally_json(score.signs)},
          {"orders", tally_json(score.orders)},
          {"within_tolerance", tally_json(score.within_tolerance)}};
}

ordered_json kinds_json(const Validation& validation, ValidationGroup group, bool first_run = false) {
  ordered_json out;
  for (const PaperKind kind : {PaperKind::calibrated, PaperKind::in_sight, PaperKind::predicted}) {
    group.kind = kind;
    out[to_string(kind)] = validation_score_json(score_of(validation, group, first_run));
  }
  return out;
}

ordered_json verdict_json(const OfKinds& kinds) {
  ordered_json out = ordered_json::object();
  for (const auto& [kind, score] : kinds) {
    out[to_string(kind)] = {{"within_tolerance", tally_json(score.within_tolerance)}, {"guess", score.guessed}};
    if (kind == PaperKind::predicted) out[to_string(kind)]["lost_when_broken"] = score.with_break;
  }
  return out;
}

ordered_json verdicts_json(const Verdicts& verdicts) {
  ordered_json out = {{"present_day", verdict_json(verdicts.present_day)}, {"documents", verdict_json(verdicts.documents)}};
  out["by_document"] = out["by_figure_kind"] = ordered_json::object();
  for (const auto& [document, kinds] : verdicts.by_document) out["by_document"][document] = verdict_json(kinds);
  for (const auto& [kind, kinds] : verdicts.by_figure_kind) out["by_figure_kind"][kind] = verdict_json(kinds);
  return out;
}

ordered_json validated_row_json(const ValidatedRow& row) {
  const PaperResult& result = row.result;
  ordered_json out = {{"experiment", row.experiment}, {"machine", row.machine}, {"family", row.family}};
  out.update(paper_to_json(result));
  out["source"] = result.row.source;
  out["figure_kind"] = kFigureKinds.at(ordinal(figure_kind(result)));
  out["simulated_over_published"] = rounded_json(simulated_over_published(result));
  if (const auto right = sign_is_right(result)) {
    out["published_sign"] = to_string(*published_sign(result.row));
    out["simulated_change"] = result.change ? number_to_json(result.change->share) : ordered_json(nullptr);
    out["sign_right"] = *right;
  }
  if (!row.first) return out;
  out[row.first->is_first ? "first_run" : "recorded"] = row.first->date;
  out["because"] = row.first->because;
  if (!has_moved(row)) return out;
  ordered_json first = ordered_json::array();
  for (const auto& value : row.first->simulated) first.push_back(rounded_json(value));
  out["first_simulated"] = std::move(first);
  return out;
}

std::string validation_json(const Validation& validation) {
  ordered_json out = {{"schema", "linebounce.validate/1"}};
  out["goals"] = {{"median_error", kMedianErrorGoal}, {"orders", kOrderGoal}, {"signs", number_to_json(kSignGoal)}};
  out["experiments"] = validation.experiments;
  out["verdicts"] = verdicts_json(verdicts_of(validation));
  out["score"] = kinds_json(validation, {});
  out["first_run"] = kinds_json(validation, {}, true);
  out["documents"] = kinds_json(validation, {PaperKind::predicted, std::string(kDocuments)});
  out["families"] = out["machines"] = ordered_json::object();
  for (const std::string& family : families_of(validation))
    out["families"][family.empty() ? "other" : family] = kinds_json(validation, {PaperKind::predicted, family});
  for (const std::string& machine : machines_of(validation))
    out["machines"][machine] = kinds_json(validation, {PaperKind::predicted, "", machine});
  out["not_run"] = validation.not_run;
  out["rows"] = ordered_json::array();
  for (const ValidatedRow& row : validation.rows) out["rows"].push_back(validated_row_json(row));
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<ChosenRows> chosen_for(const ValidateArguments& arguments) {
  const bool any = arguments.all || !arguments.names.empty();
  return choose_rows(experiments_with_rows([any](const std::string& name) { return any || is_validation(name); }),
                     arguments.names);
}

ExitCode against_own(const ValidateArguments& arguments, RunOptions options) {
  if (arguments.names.size() != 1)
    throw UsageError("--against needs one experiment, the one that was measured: EXPERIMENT --against FILE.csv");
  make_own_directory(arguments.directory);
  return validate_against({arguments.against, arguments.names.front(), arguments.machine, arguments.json}, std::move(options));
}

ExitCode validate(const ValidateArguments& arguments, const std::vector<std::string>& argv) {
  ExitCode code = ExitCode::done;
  Validation validation;
  RunOptions options;
  options.directory = arguments.directory;
  options.at_once = arguments.at_once;
  options.argv = argv;
  options.earlier = earlier_results(arguments.fresh);
  if (!arguments.against.empty()) return against_own(arguments, std::move(options));
  const std::vector<ChosenRows> chosen = chosen_for(arguments);
  make_own_directory(arguments.directory);
  if (!foretell_runs(chosen, options)) return ExitCode::interrupted;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string place = fmt::format("{} of {}: {}", i + 1, chosen.size(), chosen[i].experiment.name);
    const RowsRun run = run_rows(chosen[i], place, options, code);
    if (code == ExitCode::interrupted) return code;
    add_rows(validation, run.plan.experiment, run.rows);
    if (chosen.size() > 1 && !terminal_columns(STDERR_FILENO))
      std::cerr << fmt::format("{}: {}\n", place, score_text(run.rows, Painter(false, kTerminalWidth))) << std::flush;
  }
  if (!arguments.all && arguments.names.empty()) add_documents(validation, arguments.directory);
  if (arguments.record) record_all(validation);
  const std::string json = validation_json(validation);
  replace_file(fs::path(arguments.directory) / "validation.json", json);
  std::cout << (arguments.json ? json : validation_page(validation, painter_for_stdout()));
  const ValidationScore fitted = score_of(validation, {PaperKind::calibrated});
  return fitted.within_tolerance.right < fitted.within_tolerance.of ? larger(code, ExitCode::check_failed) : code;
}

}  // namespace

void add_validate(Command& program) {
  auto arguments = std::make_shared<ValidateArguments>();
  Command command = program.subcommand(
      "validate", "Run the fitted and the predicted figures, and print their errors on one page", HelpGroup::publications);
  command.option("NAME", "", &arguments->names,
                 "Experiments, or beginnings of paper rows' ids; default: all fitted and predicted ones");
  command.option("-o,--output", "DIR", &arguments->directory, "Folder for the results directories; default: out/validate")
      .own_directory();
  command.option("--against", "FILE.csv", &arguments->against,
                 "Score your own measurements of the experiment NAME instead, cell by cell");
  command.option("--machine", "MACHINE", &arguments->machine, "With --against: a machine instead of the experiment's")
      .belongs_to({"--against"});
  add_jobs(command, arguments->at_once);
  command.flag("--all", arguments->all, "Run the papers' experiments, too").excludes({"--against"});
  command.flag("--record", arguments->record, "Record first runs in configs/experiments/validation/records")
      .excludes({"--against"});
  command.flag("--fresh", arguments->fresh, kFreshMeaning);
  command.flag("--json", arguments->json, "Print one JSON object instead of a page");
  command.footer(kValidateFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return validate(*arguments, argv); });
}

}  // namespace linebounce::sim
