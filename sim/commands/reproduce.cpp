#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/commands/commands.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/terminal/measured_view.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr const char* kReproduceFooter = R"(Examples:
  linebounce reproduce                    every experiment for which a paper has figures
  linebounce reproduce operation_costs    one of them
  linebounce reproduce ols2004.table1     the rows whose id begins with this

Exit code 1 if a calibrated row is out of tolerance; others that miss are shown and counted.)";

struct ReproduceArguments {
  std::vector<std::string> names;
  std::string directory = "out/reproduce";
  int at_once = available_cores();
  bool json = false;
};

// An experiment to run, and which of its rows are asked for.
struct Chosen {
  Experiment experiment;
  std::vector<std::string> prefixes;  // of row ids; "" for all
};

struct Reproduced {
  std::string experiment;
  std::string machine;
  std::string directory;
  std::vector<PaperResult> rows;
  std::string tables;  // measured ones, for the terminal
};

bool begins_with_any(const std::string& id, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return id.starts_with(prefix); });
}

bool has_row(const Experiment& experiment, const std::string& prefix) {
  return std::any_of(experiment.paper.begin(), experiment.paper.end(),
                     [&](const PaperRow& row) { return row.id.starts_with(prefix); });
}

std::vector<Experiment> experiments_with_rows() {
  std::vector<Experiment> experiments;
  for (const std::string& name : file_names(kExperimentFiles)) {
    Experiment experiment = load_experiment(name, {});
    if (!experiment.paper.empty()) experiments.push_back(std::move(experiment));
  }
  return experiments;
}

// One word of the command line: an experiment's name, or what ids of rows begin with.
void choose(const std::string& word, std::vector<Chosen>& all) {
  bool found = false;
  std::vector<std::string> known;
  for (Chosen& chosen : all) {
    known.push_back(chosen.experiment.name);
    const bool named = word == chosen.experiment.name;
    if (!named && !has_row(chosen.experiment, word)) continue;
    chosen.prefixes.push_back(named ? "" : word);
    found = true;
  }
  if (!found) throw ConfigError("no experiment and no paper row begins so: " + not_known(word, known));
}

std::vector<Chosen> choose_all(const std::vector<std::string>& words) {
  std::vector<Chosen> all;
  for (Experiment& experiment : experiments_with_rows()) all.push_back({std::move(experiment), {}});
  if (words.empty()) {
    for (Chosen& chosen : all) chosen.prefixes.emplace_back();
  }
  for (const std::string& word : words) choose(word, all);
  std::erase_if(all, [](const Chosen& chosen) { return chosen.prefixes.empty(); });
  return all;
}

// `place`: how far the command has come, for the progress line.
Reproduced reproduce_one(const Chosen& chosen, const std::string& place, const ReproduceArguments& arguments,
                         const std::vector<std::string>& argv, ExitCode& code) {
  const Plan plan = make_plan(chosen.experiment);
  RunOptions options;
  options.directory = std::filesystem::path(arguments.directory) / plan.experiment.name;
  options.at_once = arguments.at_once;
  options.argv = argv;
  const RunReport report = run_with_progress(plan, options, place, true);
  print_failures(plan, report, options.directory);
  code = larger(code, report.code);
  Reproduced reproduced{plan.experiment.name, plan.experiment.machine_name, options.directory.string(), {}, {}};
  for (const PaperResult& row : report.results.paper) {
    if (begins_with_any(row.row.id, chosen.prefixes)) reproduced.rows.push_back(row);
  }
  const auto has_rows = [&reproduced](const std::string& table) {
    return std::any_of(reproduced.rows.begin(), reproduced.rows.end(), [&](const auto& row) { return row.row.table == table; });
  };
  reproduced.tables = measured_tables(plan, report.results, has_rows, painter_for_stdout());
  return reproduced;
}

ordered_json score_json(const std::vector<PaperResult>& rows, PaperKind kind) {
  const Score score = score_of(rows, kind);
  ordered_json out;
  out["within"] = score.within;
  out["of"] = score.of;
  return out;
}

void print_json(const std::vector<Reproduced>& all, const std::vector<PaperResult>& rows) {
  ordered_json experiments = ordered_json::array();
  for (const Reproduced& reproduced : all) {
    ordered_json paper = ordered_json::array();
    for (const PaperResult& row : reproduced.rows) {
      ordered_json entry = paper_to_json(row);
      entry["source"] = row.row.source;
      paper.push_back(std::move(entry));
    }
    ordered_json entry;
    entry["experiment"] = reproduced.experiment;
    entry["machine"] = reproduced.machine;
    entry["directory"] = reproduced.directory;
    entry["paper"] = std::move(paper);
    experiments.push_back(std::move(entry));
  }
  ordered_json out;
  out["schema"] = "linebounce.reproduce/1";
  out["experiments"] = std::move(experiments);
  out["calibrated"] = score_json(rows, PaperKind::calibrated);
  out["in_sight"] = score_json(rows, PaperKind::in_sight);
  out["predicted"] = score_json(rows, PaperKind::predicted);
  std::cout << out.dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
}

void print_tables(const std::vector<Reproduced>& all, const std::vector<PaperResult>& rows) {
  const Painter paint = painter_for_stdout();
  std::string text = paper_table(rows, paint);
  for (const Reproduced& reproduced : all) {
    if (reproduced.tables.empty()) continue;
    text += (text.empty() ? "" : "\n") + reproduced.tables;
  }
  std::cout << text;
  const std::string score = score_text(rows, paint);
  if (!score.empty()) std::cout << "\n  " << score << "\n";
  std::cout << "\n";
  for (const Reproduced& reproduced : all) {
    std::cout << reproduced.experiment << " on " << reproduced.machine << ": " << reproduced.directory << "/\n";
  }
}

ExitCode reproduce(const ReproduceArguments& arguments, const std::vector<std::string>& argv) {
  ExitCode code = ExitCode::done;
  std::vector<Reproduced> all;
  std::vector<PaperResult> rows;
  const std::vector<Chosen> chosen = choose_all(arguments.names);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string place = fmt::format("{} of {}: {}", i + 1, chosen.size(), chosen[i].experiment.name);
    all.push_back(reproduce_one(chosen[i], place, arguments, argv, code));
    rows.insert(rows.end(), all.back().rows.begin(), all.back().rows.end());
    if (code == ExitCode::interrupted) return code;
    // In a log file each line stays; a terminal has the progress line.
    if (chosen.size() > 1 && !terminal_columns(STDERR_FILENO))
      std::cerr << fmt::format("{}: {}\n", place, score_text(all.back().rows, Painter(false, kTerminalWidth))) << std::flush;
  }
  if (arguments.json) {
    print_json(all, rows);
  } else if (rows.empty()) {
    std::cout << "No experiment in configs/experiments has [[paper]] rows.\n";
  } else {
    print_tables(all, rows);
  }
  const Score calibrated = score_of(rows, PaperKind::calibrated);
  return calibrated.within < calibrated.of ? larger(code, ExitCode::check_failed) : code;
}

}  // namespace

void add_reproduce(Command& program) {
  auto arguments = std::make_shared<ReproduceArguments>();
  Command command =
      program.subcommand("reproduce", "Run the experiments for which papers have figures, and print both side by side");
  command.option("NAME", "", &arguments->names, "Experiments, or what ids of paper rows begin with; default: all");
  command.option("-o,--output", "DIR", &arguments->directory, "Folder for the results directories; default: out/reproduce");
  add_jobs(command, arguments->at_once);
  command.flag("--json", arguments->json, "Print one JSON object instead of tables");
  command.footer(kReproduceFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return reproduce(*arguments, argv); });
}

}  // namespace linebounce::sim
