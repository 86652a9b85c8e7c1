#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "evidence/paper_runs.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/terminal/measured_view.hpp"
#include "sim/terminal/paper_table.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr const char* kReproduceFooter = R"(Examples:
  linebounce reproduce                    every experiment that has figures from a paper
  linebounce reproduce operation_costs    one of them
  linebounce reproduce ols2004.table1     the rows whose id begins with this

Exit code 1: a calibrated row is out of tolerance. Other rows that miss are shown and counted.)";

struct ReproduceArguments {
  std::vector<std::string> names;
  std::string directory = "out/reproduce";
  int at_once = available_cores();
  bool json = false;
};

struct Reproduced {
  std::string experiment;
  std::string machine;
  std::string directory;
  std::vector<PaperResult> rows;
  std::string tables;  // the measured tables, formatted for the terminal
};

// `place`: position among all experiments, for the progress line.
Reproduced reproduce_one(const ChosenRows& chosen, const std::string& place, const RunOptions& options, ExitCode& code) {
  RowsRun run = run_rows(chosen, place, options, code);
  Reproduced reproduced{
      run.plan.experiment.name, run.plan.experiment.machine_name, run.directory.string(), std::move(run.rows), {}};
  const auto has_rows = [&reproduced](const std::string& table) {
    return std::ranges::any_of(reproduced.rows, [&](const auto& row) { return row.row.table == table; });
  };
  reproduced.tables = measured_tables(run.plan, run.report.results, has_rows, painter_for_stdout());
  return reproduced;
}

// The experiments that the words choose. Without words: all papers' experiments, except those that belong to `validate`.
std::vector<ChosenRows> choose_all(const std::vector<std::string>& words) {
  const bool named = !words.empty();
  return choose_rows(experiments_with_rows([named](const std::string& name) { return named || !is_validation(name); }), words);
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
  const std::vector<ChosenRows> chosen = choose_all(arguments.names);
  make_own_directory(arguments.directory);
  RunOptions options;
  options.directory = arguments.directory;
  options.at_once = arguments.at_once;
  options.argv = argv;
  if (!foretell_runs(chosen, options)) return ExitCode::interrupted;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string place = fmt::format("{} of {}: {}", i + 1, chosen.size(), chosen[i].experiment.name);
    all.push_back(reproduce_one(chosen[i], place, options, code));
    rows.insert(rows.end(), all.back().rows.begin(), all.back().rows.end());
    if (code == ExitCode::interrupted) return code;
    // In a log file each experiment gets a line; a terminal shows the progress line instead.
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
  Command command = program.subcommand(
      "reproduce", "Run the experiments for which papers have figures, and print both side by side", HelpGroup::publications);
  command.option("NAME", "", &arguments->names, "Experiments, or beginnings of paper rows' ids; default: all");
  command.option("-o,--output", "DIR", &arguments->directory, "Folder for the results directories; default: out/reproduce")
      .own_directory();
  add_jobs(command, arguments->at_once);
  command.flag("--json", arguments->json, "Print one JSON object instead of tables");
  command.footer(kReproduceFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return reproduce(*arguments, argv); });
}

}  // namespace linebounce::sim
