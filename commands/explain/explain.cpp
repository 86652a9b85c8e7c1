#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/explain/waterfall.hpp"
#include "commands/steps/explained_misses.hpp"
#include "models/ordinal.hpp"
#include "models/text/visible.hpp"
#include "sim/answer/point_choice.hpp"
#include "sim/answer/what_varies.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/terminal/progress_line.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kExplainFooter = R"(Examples:
  linebounce explain out/two_sockets                      a typical and a slow miss of the kind that costs most
  linebounce explain two_sockets --miss "remote HITM"     misses that another node's cache serves
  linebounce explain out/lock_scaling --point lock=mcs,cpus=4 --miss upgrade
  linebounce explain my.toml --line counter.value --percentile 10 --percentile 90

Kinds of misses are the sources in latency.csv: local_c2c (local HITM), remote_c2c (remote HITM), node_cache, local_memory,
remote_memory and upgrade. Stages follow one another without gaps and add up to the latency. A star marks a wait; the lines below
the table say what it waited for. Explain always simulates the point's first seed anew, even from a results directory, where it
writes explain.json for `linebounce report` to draw.)";

struct ExplainArguments : OverrideArguments {
  std::string what;
  std::string kind;
  std::string line;
  std::string point;
  std::vector<int> percentiles;
  bool json = false;
};

// The point that the results' answer is about. Without results or an answer, the last point, which in most sweeps has the most
// CPUs.
int answered_point(const fs::path& results, int last) {
  if (results.empty() || !is_there(results)) return last;
  const ordered_json json = ordered_json::parse(read_file(results), nullptr, false);
  const auto point = ordered_json::json_pointer("/answer/point");
  if (json.is_discarded() || !json.contains(point) || !json[point].is_number_integer()) return last;
  return std::clamp(json[point].get<int>(), 0, last);
}

struct Chosen {
  Point point;
  std::size_t points = 1;
  int number = 0;
  std::string name;
};

Chosen choose_point(const ExplainArguments& arguments) {
  const fs::path directory = arguments.what;
  const bool is_results = fs::is_directory(directory);
  const fs::path config = directory / "config.toml";
  if (is_results && !is_there(config))
    throw InputError(directory.string() + ": this is not a results directory, because it has no config.toml");
  if (is_results) read_file(config);  // refuses a pipe, whose writer load_runnable() would wait for
  const Experiment experiment = load_runnable(is_results ? config.string() : arguments.what, overrides_of(arguments));
  std::vector<ReportedPoint> points;
  for (const PointPlace& point : outline(experiment)) points.push_back({point.at, {}});
  const int number = arguments.point.empty() ? answered_point(is_results ? directory / "results.json" : fs::path(),
                                                              static_cast<int>(points.size()) - 1)
                                             : chosen_point(arguments.point, points);
  return {point_maker(experiment)(number), points.size(), number, experiment.name};
}

MissChoice choice_of(const ExplainArguments& arguments) {
  MissChoice choice{.line = arguments.line};
  if (!arguments.percentiles.empty()) choice.percentiles = arguments.percentiles;
  if (arguments.kind.empty()) return choice;
  choice.kind = source_called(arguments.kind);
  if (choice.kind) return choice;
  std::vector<std::string> kinds(kSourceNames.begin(), kSourceNames.end());
  kinds.emplace_back("local HITM");
  kinds.emplace_back("remote HITM");
  throw ConfigError("--miss: kind " + not_known(arguments.kind, kinds));
}

ordered_json row_json(const WaterfallRow& row, double ns_per_tick) {
  ordered_json json = {{"stage", row.name},
                       {"at", row.at},
                       {"kind", row.waits ? "queueing" : "travel"},
                       {"start_ticks", row.start},
                       {"ticks", row.ticks},
                       {"start_ns", rounded(static_cast<double>(row.start) * ns_per_tick)},
                       {"ns", rounded(static_cast<double>(row.ticks) * ns_per_tick)}};
  if (row.behind >= 0) {
    json["behind"] = row.behind;
    json["same_line"] = row.same_line;
  }
  if (!row.text.empty()) json["text"] = row.text;
  return json;
}

ordered_json miss_json(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick) {
  ordered_json rows = ordered_json::array(), shown = ordered_json::array();
  const std::vector<WaterfallRow> all = waterfall(miss, endpoints, ns_per_tick);
  for (const WaterfallRow& row : all) rows.push_back(row_json(row, ns_per_tick));
  for (const WaterfallRow& row : folded(all)) shown.push_back(row_json(row, ns_per_tick));
  ordered_json waits = ordered_json::object();
  for (std::size_t resource = 0; resource < kResources; ++resource)
    waits[kResourceNames[resource]] = miss.miss.waits[static_cast<Resource>(resource)];
  return {{"percentile", miss.percentile},
          {"ticks", miss.miss.latency},
          {"ns", rounded(static_cast<double>(miss.miss.latency) * ns_per_tick)},
          {"queueing_ticks", miss.queued()},
          {"queueing_ns", rounded(static_cast<double>(miss.queued()) * ns_per_tick)},
          {"issued_ticks", miss.miss.issued},
          {"cpu", miss.miss.cpu.value},
          {"node", miss.node},
          {"object", miss.object},
          {"field", miss.field},
          {"function", miss.function},
          {"access", kAccessNames[ordinal(miss.miss.access)]},
          {"joined", miss.joined},
          {"rows", std::move(shown)},
          {"stages", std::move(rows)},
          {"waits_ticks", std::move(waits)}};
}

ordered_json document_of(const Chosen& chosen, const ExplainedMisses& explained, const std::string& line) {
  const Endpoints endpoints(chosen.point.input.machine);
  ordered_json counts = ordered_json::object(), misses = ordered_json::array();
  for (std::size_t kind = 0; kind < explained.counts.size(); ++kind) counts[kSourceNames[kind]] = explained.counts[kind];
  for (const ExplainedMiss& miss : explained.misses) misses.push_back(miss_json(miss, endpoints, explained.ns_per_tick));
  ordered_json out;
  out["schema"] = "linebounce.explain/1";
  out["experiment"] = chosen.name;
  out["machine"] = chosen.point.input.machine.name;
  out["at"] = at_to_json(chosen.point.at);
  out["seed"] = chosen.point.input.seed;
  out["line"] = line.empty() ? ordered_json(nullptr) : ordered_json(line);
  out["kind"] = kSourceNames[ordinal(explained.kind)];
  out["counts"] = std::move(counts);
  out["tick_ns"] = explained.tick_ns;
  out["misses"] = std::move(misses);
  return out;
}

std::string text_of(const ordered_json& document) {
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Saves the explanation for the report, with the point's number and the results' configuration hash, by which the report
// checks that the file belongs to its results. Does nothing without a manifest. If the directory is not writable, prints an
// error and goes on.
void keep(ordered_json document, const Chosen& chosen, const fs::path& directory) {
  const fs::path path = directory / "manifest.json";
  const auto manifest = is_there(path) ? read_manifest(read_file(path)) : std::nullopt;
  if (!manifest) return;
  document["point"] = chosen.number;
  document["hash"] = manifest->hash;
  try {
    replace_file(directory / kExplanationFile, visible(text_of(document)));
  } catch (const OutputError& error) {
    print_error(std::string(error.what()) + "; the report will not show this");
  }
}

ExplainedMisses explain_with_progress(const Chosen& chosen, const MissChoice& choice) {
  ProgressLine line("explaining " + chosen.name, true);
  return explain_misses(chosen.point.input, choice, share_of_one_run(line));
}

void print_text(const Chosen& chosen, const ExplainedMisses& explained, const std::string& line) {
  const Painter paint = painter_for_stdout();
  const Endpoints endpoints(chosen.point.input.machine);
  std::string at = chosen.point.input.machine.name;
  for (const auto& [path, value] : chosen.point.at) at += fmt::format(", {} = {}", path, value_name(value));
  if (chosen.points > 1) at += fmt::format(" ({} points; --point chooses another)", chosen.points);
  std::cout << titled(chosen.name, at, paint) << "\n";
  std::vector<std::string> others;
  for (std::size_t kind = 0; kind < explained.counts.size(); ++kind) {
    if (explained.counts[kind] > 0 && kind != ordinal(explained.kind))
      others.push_back(fmt::format("{} {}", grouped(explained.counts[kind]), kSourceWords[kind]));
  }
  std::string kinds = fmt::format("{} {}{}", grouped(explained.counts[ordinal(explained.kind)]), title_of(explained.kind),
                                  line.empty() ? "" : " on " + line);
  if (!others.empty()) kinds += fmt::format("; besides {}", fmt::join(others, ", "));
  std::cout << paragraph(kinds, 2, Colour::none, paint);
  for (const ExplainedMiss& miss : explained.misses)
    std::cout << "\n" << waterfall_text(miss, endpoints, explained.ns_per_tick, paint);
}

ExitCode explain(const ExplainArguments& arguments) {
  const MissChoice choice = choice_of(arguments);
  const Chosen chosen = choose_point(arguments);
  const ExplainedMisses explained = explain_with_progress(chosen, choice);
  const ordered_json document = document_of(chosen, explained, arguments.line);
  if (arguments.json) {
    std::cout << text_of(document);
  } else {
    print_text(chosen, explained, arguments.line);
  }
  const bool as_run = arguments.machine.empty() && arguments.sets.empty() && !arguments.seed;
  if (as_run && fs::is_directory(arguments.what)) keep(document, chosen, arguments.what);
  return ExitCode::done;
}

}  // namespace

void add_explain(Command& program) {
  auto arguments = std::make_shared<ExplainArguments>();
  Command command = program.subcommand("explain", "Show where the nanoseconds of a typical and a slow miss go, stage by stage",
                                       HelpGroup::results);
  command
      .option(
          "WHAT", "", &arguments->what,
          "A results directory, as `linebounce run` writes it, or anything that `run` takes: an experiment or a program in Lua")
      .required();
  command.option("--miss", "KIND", &arguments->kind, "Only misses of this kind; default: the costliest");
  command.option("--line", "OBJECT.FIELD", &arguments->line, "Only misses on this field, object or structure");
  command.option("--point", "POINT", &arguments->point,
                 "A point of a sweep, by its settings, such as lock=mcs,cpus=4, or its number; default: that of the results' "
                 "answer, else the last");
  command
      .option("--percentile", "P", &arguments->percentiles,
              "Show the miss at this percentile of its kind's latencies; may be repeated; default: 50 and 99")
      .one_value_each()
      .between(1, 100);
  command.flag("--json", arguments->json, "Print one JSON object instead of tables");
  add_overrides(command, *arguments);
  command.footer(kExplainFooter);
  command.action([arguments] { return explain(*arguments); });
}

}  // namespace linebounce::sim
