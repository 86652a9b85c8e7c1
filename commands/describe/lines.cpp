#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "models/text/shell_word.hpp"
#include "sim/answer/point_choice.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/result_files.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/line_table.hpp"
#include "sim/terminal/metrics_table.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kLinesFooter = R"(Examples:
  linebounce lines out/oltp                              the ten lines with the most latency, field by field
  linebounce lines out/oltp --top 3 --structure rq       only run queues
  linebounce lines out/oltp --as-sampled --sum           as an Itanium 2 samples; a structure's objects summed
  linebounce lines out/dcache_dbench --point 7 --json    point 7 of a sweep, as JSON
  linebounce import report.txt && linebounce lines       a report of perf c2c, in its own order

A row is one object's part of a cache line; objects that share a line have one row each. Only loads and stores that miss are
counted; an atomic operation counts as a store. Local and remote HITM: a modified copy in a cache of the requester's node, or of
another node, served the miss. Remote %: the line's home is not the requester's node. Queueing: time spent waiting for busy
resources; the rest of a miss's latency is travel.)";

struct LinesArguments {
  std::string directory;
  std::size_t top = 10;
  std::string structure;
  std::string point;  // empty: the point that the answer is about
  LineChoice choice;
  bool json = false;
};

// One point's data from a results directory.
struct Recorded {
  std::size_t points = 0;
  std::size_t finished = 0;  // of them
  int number = 0;
  ReportedPoint point;
  std::vector<LineRow> rows;
  std::vector<std::string> assumptions;  // assumptions about the machine, as assumptions_of() words them
};

bool has_finished(const ReportedPoint& point) {
  return !point.metrics.empty();
}

// The error for a point without results, or, without a number, for results without any point. Includes a failed point's
// message.
InputError no_results(const fs::path& directory, std::optional<int> point) {
  std::string message =
      directory.string() + (point ? fmt::format(": point {} has not finished", *point) : ": no point has finished");
  const fs::path file = directory / "manifest.json";
  const auto manifest = is_there(file) ? read_manifest(read_file(file)) : std::nullopt;
  if (!manifest) return InputError(message);
  for (const FailedPoint& failed : manifest->failed_points) {
    if (!point || failed.point == *point) return InputError(message + ": " + failed.reason);
  }
  return InputError(message);
}

Recorded read_directory(const LinesArguments& arguments) {
  const fs::path directory = arguments.directory;
  const fs::path results = directory / "results.json";
  if (!is_there(directory))
    throw InputError(fmt::format("{}: there is no such results directory; `linebounce run EXPERIMENT -o {}` makes one",
                                 directory.string(), shell_word(directory.string())));
  if (!fs::is_directory(directory))
    throw InputError(
        fmt::format("{}: this is a file; give a results directory, which `linebounce run` makes", directory.string()));
  if (!is_there(results))
    throw InputError(fmt::format("{}: this is not a results directory, because it has no results.json", directory.string()));
  const std::vector<ReportedPoint> points = read_results(results, results.string() + ": ", read_points);
  std::optional<int> wanted;
  if (!arguments.point.empty()) wanted = chosen_point(arguments.point, points);
  const std::size_t finished = std::count_if(points.begin(), points.end(), has_finished);
  if (finished == 0 || (wanted && !has_finished(points.at(*wanted)))) throw no_results(directory, wanted);
  auto lines = read_csv(directory / "lines.csv", read_lines_csv);
  if (!lines.empty() && (lines.begin()->first < 0 || lines.rbegin()->first >= std::ssize(points))) {
    throw InputError(fmt::format("{}: its points are not those of {}", (directory / "lines.csv").string(), results.string()));
  }
  const int answered = read_results(results, results.string() + ": ", read_answered_point).value_or(costliest_point(lines));
  const int number = wanted.value_or(has_finished(points.at(answered)) ? answered : costliest_point(lines));
  return {points.size(),
          finished,
          number,
          points.at(number),
          std::move(lines[number]),
          read_results(results, results.string() + ": ", read_assumptions)};
}

void keep_structure(LineSet& set, const std::string& structure, const std::vector<LineRow>& rows) {
  std::set<std::string> known;
  for (const LineRow& row : rows) known.insert(row.structure);
  if (!known.contains(structure)) {
    throw ConfigError("--structure: structure " + not_known(structure, {known.begin(), known.end()}));
  }
  std::erase_if(set.lines, [&structure](const Line& line) { return line.structure != structure; });
}

ordered_json line_json(const Line& line, const MissSum& all) {
  const auto split = [&line](double ns) { return line.misses.is_split ? ordered_json(rounded(ns)) : ordered_json(nullptr); };
  ordered_json rows = ordered_json::array();
  for (const LineUse& use : line.uses) {
    rows.push_back({{"offset", use.offset},
                    {"field", use.field},
                    {"function", use.function},
                    {"access", use.access},
                    {"samples", use.misses.count},
                    {"remote_pct", rounded(use.misses.remote_pct())},
                    {"latency_ns_mean",
                     use.misses.timed() > 0 ? ordered_json(rounded(use.misses.latency_ns_mean())) : ordered_json(nullptr)},
                    {"cpus", cpu_list(use.misses.cpus)},
                    {"local_hitm", use.misses.local_hitm},
                    {"remote_hitm", use.misses.remote_hitm},
                    {"queueing_ns_mean", split(use.misses.queueing_ns() / static_cast<double>(use.misses.count))}});
  }
  const double remote = line.misses.remote_pct();
  ordered_json waits = ordered_json::object();
  for (std::size_t resource = 0; resource < kResources; ++resource)
    waits[kResourceNames[resource]] = split(line.misses.waits_ns[resource]);
  return {{"structure", line.structure},
          {"object", line.object.empty() ? ordered_json(nullptr) : ordered_json(line.object)},
          {"line", line.number},
          {"home", line.home ? ordered_json(*line.home) : ordered_json(nullptr)},
          {"misses", line.misses.count},
          {"local_pct", rounded(100 - remote)},
          {"remote_pct", rounded(remote)},
          {"latency_ns", rounded(line.misses.latency_ns)},
          {"latency_share_pct", rounded(line.misses.latency_share_pct(all))},
          {"rows", std::move(rows)},
          {"cpus", cpu_list(line.misses.cpus)},
          {"loads", line.misses.loads},
          {"stores", line.misses.stores},
          {"local_hitm", line.misses.local_hitm},
          {"remote_hitm", line.misses.remote_hitm},
          {"code_places", line.code_places},
          {"travel_ns", split(std::max(0.0, line.misses.latency_ns - line.misses.queueing_ns()))},
          {"queueing_ns", split(line.misses.queueing_ns())},
          {"queueing_ns_by_resource", std::move(waits)}};
}

void print_json(const LinesArguments& arguments, const Recorded& recorded, const LineSet& set) {
  ordered_json lines = ordered_json::array();
  for (std::size_t i = 0; i < std::min(arguments.top, set.lines.size()); ++i) {
    lines.push_back(line_json(set.lines[i], set.all));
  }
  ordered_json subsystems = ordered_json::array();
  for (const SubsystemShare& share : subsystem_shares(recorded.point.metrics)) {
    subsystems.push_back(
        {{"name", share.name}, {"misses_pct", rounded(share.misses_pct)}, {"latency_pct", rounded(share.latency_pct)}});
  }
  ordered_json out;
  out["schema"] = "linebounce.lines/1";
  out["directory"] = arguments.directory;
  out["point"] = recorded.number;
  out["at"] = at_to_json(recorded.point.at);
  out["as_sampled"] = arguments.choice.as_sampled;
  out["sum"] = arguments.choice.sum;
  out["misses"] = set.all.count;
  out["latency_ns"] = rounded(set.all.latency_ns);
  out["lines"] = std::move(lines);
  out["subsystems"] = std::move(subsystems);
  out["assumptions"] = recorded.assumptions;
  std::cout << out.dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
}

void print_tables(const LinesArguments& arguments, const Recorded& recorded, const LineSet& set) {
  const Painter paint = painter_for_stdout();
  if (recorded.points > 1) {
    std::string place = fmt::format("point {} of {}", recorded.number, recorded.points);
    if (recorded.finished < recorded.points) place += fmt::format(", {} of them finished", recorded.finished);
    std::cout << "  " << paint(Colour::bold, place) << "  " << point_title(recorded.point) << "\n\n";
  }
  const std::string table = line_table(set, arguments.top, paint);
  std::cout << (table.empty() ? "No line has a miss of that kind.\n" : table);
  const std::string subsystems = subsystem_table(recorded.point.metrics, paint);
  if (!subsystems.empty()) std::cout << "\n" << subsystems;
  if (!recorded.assumptions.empty()) std::cout << "\n" << assumptions_text(recorded.assumptions, paint);
}

// The directory below out/ whose lines.csv is the newest. Errors: ConfigError if there is none.
fs::path latest_results() {
  constexpr int kDeepest = 3;
  fs::path latest;
  fs::file_time_type written;
  std::error_code error;
  fs::recursive_directory_iterator at("out", fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    if (at->path().filename() == "points") at.disable_recursion_pending();
    if (at->path().filename() != "lines.csv" || !is_there(at->path().parent_path() / "results.json")) continue;
    const fs::file_time_type time = at->last_write_time(error);
    if (error || (!latest.empty() && time <= written)) continue;
    latest = at->path().parent_path();
    written = time;
  }
  if (latest.empty()) throw ConfigError("DIR is missing, and there are no results below out/: name a results directory");
  return latest;
}

ExitCode show_lines(LinesArguments arguments) {
  if (arguments.directory.empty()) {
    arguments.directory = latest_results().string();
    if (!arguments.json) std::cout << "  " << arguments.directory << ", the latest results below out/\n\n";
  }
  const Recorded recorded = read_directory(arguments);
  LineSet set = lines_of(recorded.rows, arguments.choice);
  if (!arguments.structure.empty()) keep_structure(set, arguments.structure, recorded.rows);
  if (arguments.json) {
    print_json(arguments, recorded, set);
  } else {
    print_tables(arguments, recorded, set);
  }
  return ExitCode::done;
}

}  // namespace

void add_lines(Command& program) {
  auto arguments = std::make_shared<LinesArguments>();
  Command command =
      program.subcommand("lines", "Show the cache lines that miss most, field by field, from results", HelpGroup::results);
  command.option("DIR", "", &arguments->directory,
                 "A results directory, as `linebounce run` or `import` writes it; default: the latest one below out/");
  command.option("--top", "N", &arguments->top, "Lines to show, those with the most latency first; default: 10")
      .between(1, 1000000);
  command.option("--structure", "S", &arguments->structure, "Only lines of objects of this structure");
  command.flag("--as-sampled", arguments->choice.as_sampled,
               "Only what the OLS 2007 paper's hardware samples: loads and atomics that a cache serves");
  command.flag("--sum", arguments->choice.sum, "Sum all objects of a structure, line by line");
  command.option("--point", "P", &arguments->point,
                 "A point of a sweep, by number or settings (lock=mcs,cpus=8); default: the one that the answer is about");
  command.flag("--json", arguments->json, "Print one JSON object instead of tables");
  command.footer(kLinesFooter);
  command.action([arguments] { return show_lines(*arguments); });
}

}  // namespace linebounce::sim
