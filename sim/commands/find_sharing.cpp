// `linebounce find-sharing`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "sim/advice/object_places.hpp"
#include "sim/commands/commands.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/commands/read_results.hpp"
#include "sim/commands/replay_study.hpp"
#include "sim/commands/run_report.hpp"
#include "sim/commands/sharing_report.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/files.hpp"
#include "trace/reader.hpp"

namespace linebounce {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(
Examples:
  linebounce find-sharing program.lbt --machine p3_xeon_8way
      lines on which threads use different bytes, and what would cure them
  linebounce find-sharing program.lbt --machine mine.toml --top 3 --json
      all lines, and proposals for the three costliest that have one, for a program

A line is shared falsely if threads use different bytes of it and one of them writes. Who uses which bytes is read from the trace;
what the lines cost is measured by replaying it, and so is what each proposal saves. A proposal is printed as C and as the
[[layout.change]] with which it was run. Results that are there already are used again. A trace with more threads than the machine
has CPUs wants --set workload.threads=round_robin.)";

struct SharingArguments {
  std::string trace;
  std::vector<std::string> machines, sets;
  std::size_t top = 5;
  std::string directory;
  int at_once = available_cores();
  bool json = false;
};

// Misses of a recorded run by object and line of the object.
class LineCosts {
 public:
  explicit LineCosts(const std::vector<LineRow>& rows) {
    for (const LineRow& row : rows) {
      Cost& cost = costs_[{row.object, row.line}];
      cost.misses += row.count;
      cost.latency_us += static_cast<double>(row.count) * row.latency_ns_mean / 1000;
    }
  }

  // Of what the pieces' objects have in that line; of plain arrays in all of their lines.
  [[nodiscard]] CostlyLine of(const FalselySharedLine& line, const trace::Symbols& symbols, const ObjectPlaces& places) const {
    CostlyLine out{line};
    std::uint32_t last = trace::kNone;
    for (const Piece& piece : line.pieces) {
      if (piece.object == last) continue;
      last = piece.object;
      const trace::Object& object = symbols.objects[piece.object];
      const std::uint64_t first = places.begin[piece.object] / static_cast<std::uint64_t>(places.line_bytes);
      const auto number = lines_told_apart(object) ? static_cast<std::int64_t>(line.line - first) : 0;
      const auto found = costs_.find({object.name, number});
      if (found == costs_.end()) continue;
      out.misses += found->second.misses;
      out.latency_us += found->second.latency_us;
    }
    return out;
  }

 private:
  struct Cost {
    std::int64_t misses = 0;
    double latency_us = 0;
  };
  static bool lines_told_apart(const trace::Object& object) {
    return object.structure != trace::kNone || object.alignment != 0 || object.address;
  }
  std::map<std::pair<std::string, std::int64_t>, Cost> costs_;
};

class SharingFinder {
 public:
  SharingFinder(const SharingArguments& arguments, const trace::Reader& reader, const std::vector<std::string>& argv)
      : arguments_(arguments), reader_(reader), argv_(argv) {
    study_ = {.name = "recorded",
              .title = "The layouts as recorded",
              .machine = machines_or_recorded(arguments.machines, reader).front(),
              .trace = arguments.trace,
              .sets = arguments.sets};
  }

  // None: a run has failed or was interrupted; `code` says so.
  std::optional<SharingReport> find(ExitCode& code) {
    const Plan recorded = plan_of(study_);
    SharingReport report;
    report.trace = arguments_.trace;
    report.machine = recorded.experiment.machine_name;
    report.directory = fs::path(arguments_.directory) / report.machine;
    const auto points = run_study(recorded, options(report.directory / study_.name), code);
    if (!points) return std::nullopt;
    report.throughput_per_s = metric_of(points->front(), kThroughput);
    find_lines(recorded, report);
    if (!report.lines.empty() && !try_proposals(report, code)) return std::nullopt;
    return report;
  }

 private:
  static constexpr const char* kThroughput = "throughput.operations_per_s";

  [[nodiscard]] RunOptions options(const fs::path& directory) const {
    RunOptions options;
    options.directory = directory;
    options.at_once = arguments_.at_once;
    options.argv = argv_;
    return options;
  }

  void find_lines(const Plan& recorded, SharingReport& report) const {
    const ObjectPlaces places = object_places(reader_, recorded.points.front().input);
    report.line_bytes = places.line_bytes;
    auto rows = read_csv(report.directory / study_.name / "lines.csv", read_lines_csv);
    const LineCosts costs(rows[0]);
    for (const FalselySharedLine& line : falsely_shared(lines_of_several_threads(reader_, places), reader_.symbols()))
      report.lines.push_back(costs.of(line, reader_.symbols(), places));
    std::erase_if(report.lines, [](const CostlyLine& line) { return line.misses == 0; });
    std::stable_sort(report.lines.begin(), report.lines.end(),
                     [](const CostlyLine& a, const CostlyLine& b) { return a.latency_us > b.latency_us; });
  }

  // Those for the costliest lines.
  [[nodiscard]] std::vector<TriedProposal> proposals_for(const SharingReport& report) const {
    std::vector<FalselySharedLine> lines;
    for (const CostlyLine& line : report.lines) lines.push_back(line.line);
    std::vector<TriedProposal> all;
    for (const Proposal& proposal : proposals(lines, reader_.symbols(), report.line_bytes)) {
      TriedProposal tried{proposal};
      for (const std::size_t line : proposal.lines) tried.latency_us += report.lines[line].latency_us;
      if (tried.latency_us > 0) all.push_back(std::move(tried));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const TriedProposal& a, const TriedProposal& b) { return a.latency_us > b.latency_us; });
    all.resize(std::min(all.size(), arguments_.top));
    return all;
  }

  bool try_proposals(SharingReport& report, ExitCode& code) {
    report.tried = proposals_for(report);
    if (report.tried.empty()) return true;
    study_.name = "proposals";
    study_.title = "One proposal at a time, then all";
    std::vector<std::string> choices = {"none"};
    for (const TriedProposal& tried : report.tried) {
      choices.push_back(tried.proposal.name);
      study_.layout_changes += tried.proposal.change;
    }
    if (report.tried.size() > 1) choices.emplace_back("all");
    study_.sweep = {{"layout.changes", choices}};
    const auto points = run_study(plan_of(study_), options(report.directory / study_.name), code);
    if (!points) return false;
    for (std::size_t i = 0; i < report.tried.size(); ++i) compare(points->front(), points->at(i + 1), report.tried[i]);
    report.all_throughput_pct = gain(points->front(), points->back());
    std::stable_sort(report.tried.begin(), report.tried.end(),
                     [](const TriedProposal& a, const TriedProposal& b) { return a.throughput_pct > b.throughput_pct; });
    return true;
  }

  static double gain(const ReportedPoint& before, const ReportedPoint& after) {
    return 100 * (metric_of(after, kThroughput) / metric_of(before, kThroughput) - 1);
  }

  static void compare(const ReportedPoint& before, const ReportedPoint& after, TriedProposal& tried) {
    tried.throughput_pct = gain(before, after);
    tried.misses_before = transfers_of(before);
    tried.misses_after = transfers_of(after);
  }

  const SharingArguments& arguments_;
  const trace::Reader& reader_;
  const std::vector<std::string>& argv_;
  ReplayStudy study_;
};

// The last line says what to do.
std::string advice(const SharingReport& report) {
  constexpr double kWorthIt = 1;  // percent
  if (report.lines.empty()) return "No line is shared falsely, or it costs nothing.";
  if (report.tried.empty()) return "Lines are shared falsely, but no change of a layout helps.";
  const TriedProposal& best = report.tried.front();
  if (std::max(best.throughput_pct, report.all_throughput_pct) < kWorthIt)
    return fmt::format("Leave the layouts as they are: no proposal gains as much as {} %.", kWorthIt);
  std::string text = fmt::format("{}: {:+.1f} % throughput on {}", best.proposal.sentence, best.throughput_pct, report.machine);
  if (report.tried.size() > 1 && report.all_throughput_pct > best.throughput_pct + kWorthIt)
    text += fmt::format("; all {} proposals: {:+.1f} %", report.tried.size(), report.all_throughput_pct);
  return text;
}

ExitCode find_sharing(SharingArguments arguments, const std::vector<std::string>& argv) {
  const trace::Reader reader(arguments.trace);
  if (arguments.directory.empty()) arguments.directory = fs::path("out/find_sharing") / fs::path(arguments.trace).stem();
  ExitCode code = ExitCode::done;
  const auto report = SharingFinder(arguments, reader, argv).find(code);
  if (!report) return code;
  const std::string document = sharing_json(*report, reader.symbols()).dump(1) + "\n";
  write_file(fs::path(arguments.directory) / kSharingFile, document);
  if (arguments.json) {
    std::cout << document;
  } else {
    std::cout << sharing_text(*report, reader.symbols(), arguments.top, painter_for_stdout())
              << "\nResults: " << report->directory.string() << "\n"
              << advice(*report) << "\n";
  }
  return code;
}

}  // namespace

void add_find_sharing(CLI::App& program, Invocation& invocation) {
  auto arguments = std::make_shared<SharingArguments>();
  CLI::App* command =
      program.add_subcommand("find-sharing", "Find falsely shared lines in a trace, and run what would cure them");
  command->add_option("TRACE", arguments->trace, "A trace, binary or text")->type_name("")->required();
  command->add_option("--machine", arguments->machines, "On this machine; default: the one it was recorded on")
      ->type_name("M")
      ->expected(1);
  command
      ->add_option("--top", arguments->top, "Print so many lines, and try so many proposals, those that cost most; default: 5")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""));
  command->add_option("--set", arguments->sets, "Override a parameter of the machine or the replay")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command->add_option("-o,--output", arguments->directory, "Folder for the results; default: out/find_sharing/TRACE")
      ->type_name("DIR");
  add_jobs(*command, arguments->at_once);
  command->add_flag("--json", arguments->json, "Print one JSON object instead of tables");
  command->footer(kFooter);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] { return find_sharing(*arguments, invocation.argv); };
  });
}

}  // namespace linebounce
