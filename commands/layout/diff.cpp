// `linebounce layout diff`
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/layout/layout_trials.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDiffFooter = R"(Examples:
  linebounce layout diff old.pahole:page_counter new.pahole:page_counter --accesses page_counter.rst
      a table for the commit's message: which members share lines now, and the throughput on two machines
  linebounce layout diff old.pahole new.pahole --accesses server.lbt --struct job
      by a recorded program

BEFORE and AFTER are files with the structure: pahole's output, BTF types, or a layout file (TOML). The accesses are replayed with
each of the two layouts, in --orders orders, and compared in pairs. Objects begin at lines in both.)";

struct DiffArguments : LayoutArguments {
  std::string before, after;
  std::string structure;  // the structure's name in the recording, and in a file that is given without ":STRUCTURE"
};

bool has_unit(const std::vector<LayoutUnit>& units, const std::string& name) {
  return std::ranges::any_of(units,
                             [&name](const LayoutUnit& it) { return is_called(it.name, name) || is_called(name, it.name); });
}

std::optional<LayoutDiffReport> compare_layouts(const DiffArguments& arguments, const std::vector<std::string>& argv,
                                                ExitCode& code) {
  const Layout before = layout_at(arguments.before, arguments.structure);
  const Layout after = layout_at(arguments.after, arguments.structure);
  for (const Layout* one : {&before, &after}) refuse_unexplained(*one);
  const std::string structure = arguments.structure.empty() ? before.name : arguments.structure;
  const LayoutInput input = layout_input(arguments, structure, before);
  LayoutTrials trials(arguments, input, argv);
  LayoutDiffReport report{.before = arguments.before,
                          .after = arguments.after,
                          .touched = {},
                          .before_layout = before,
                          .after_layout = after,
                          .line_bytes = input.line_bytes,
                          .lines = {}};
  report.missing = input.reader->summary().missing;
  report.limits = trace::limits_of(*input.reader);
  report.basis = trials.basis();
  report.assumptions = trials.assumptions();
  std::size_t near_lines = 0;
  report.touched = trials.accesses(near_lines);
  const LayoutFile file{.name = structure,
                        .title = {},
                        .line_bytes = input.line_bytes,
                        .layouts = workloads::layouts_of(input.reader->symbols())};
  const Layout recorded = input.layout();
  std::vector<std::string> not_before;
  const auto old_members = members_like(recorded, before, not_before);
  const auto new_members = members_like(recorded, after, report.only_before);
  for (const LayoutUnit& unit : units_of(after)) {
    if (!has_unit(units_of(recorded), unit.name)) report.only_after.push_back(unit.name);
  }
  const ArrangedLayout old_layout = arranged(file, structure, "before", old_members, input.line_bytes, true);
  const ArrangedLayout new_layout = arranged(file, structure, "after", new_members, input.line_bytes, true);
  report.lines = difference(report.touched, begins_in(report.touched, old_layout.layout),
                            begins_in(report.touched, new_layout.layout), input.line_bytes);
  auto gains = trials.gains("diff", old_layout, {new_layout}, {1, arguments.orders}, code);
  if (!gains) return std::nullopt;
  report.gains = std::move(gains->front());
  if (!trials.over_pace(report.gains, old_layout, new_layout, {1, 2}, code)) return std::nullopt;
  report.orders = static_cast<std::size_t>(arguments.orders);
  return report;
}

ExitCode diff(DiffArguments arguments, const std::vector<std::string>& argv) {
  if (arguments.directory.empty())
    arguments.directory = (fs::path("out/layout_diff") / fs::path(arguments.trace).stem()).string();
  ExitCode code = ExitCode::done;
  const auto report = compare_layouts(arguments, argv, code);
  if (!report) return code;
  const std::string document = layout_diff_json(*report).dump(1) + "\n";
  make_own_directory(arguments.directory);
  replace_file(fs::path(arguments.directory) / "layout_diff.json", document);
  std::cout << (arguments.json ? document : layout_diff_text(*report));
  return code;
}

}  // namespace

void add_layout_diff(Command& layout) {
  auto arguments = std::make_shared<DiffArguments>();
  Command command = layout.child("diff", "Say which members share lines in one layout and not in another, and the cost");
  command.option("BEFORE", "", &arguments->before, "FILE or FILE:STRUCT").required();
  command.option("AFTER", "", &arguments->after, "FILE or FILE:STRUCT").required();
  command.option("--struct", "NAME", &arguments->structure,
                 "The structure's name in the recording, and in the files if they have several");
  add_layout_options(command, *arguments);
  command.footer(kDiffFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return diff(*arguments, argv); });
}

}  // namespace linebounce::sim
