// `linebounce layout optimise`
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands/advise/source_edit.hpp"
#include "commands/layout/layout_trials.hpp"
#include "forms/line_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptimiseFooter = R"(Examples:
  linebounce-record -- ./server && linebounce layout optimise account --accesses server.lbt
      the members of `struct account` in the order that the recorded threads need, as a patch of the source
  linebounce layout optimise net_device --pahole vmlinux.pahole --accesses net_device.rst
      by the kernel's own table of fast paths, with the lines that keep the result
  linebounce layout optimise job --accesses server.lbt --abi keep-first=16 --max-size 128
      the first 16 bytes stay, and the structure gets no larger than 128 bytes

Two replays, of the present layout and of one that shares no line, show in which order CPUs touch which members. Members are
divided among lines so that fewest lines move between CPUs: up to twelve touched members in the best way there is, more by
merging, moving and swapping. Unions, bit fields of one word and nested structures move as a whole, and every member keeps its
alignment. Members that are hardly touched fill the gaps, unless --cold-half keeps them behind the others. The best few layouts
are then replayed on each machine, in --orders orders of the same operations, and with up to twelve touched members one by role
and one that shares no line, if --max-size allows them; the best runs again in other orders, and those gains are printed.

A table gives no times: threads run its paths again and again, with about 200 cycles between passes. `.. threads: tx=4 rx=12` in
front of the table says how many CPUs run each path, `.. objects: 1000` how many objects there are, and read_write/16 that one
pass in 16 touches the field.)";

struct OptimiseArguments : LayoutArguments {
  std::string structure, pahole, binary, base;
  std::string abi;
  std::optional<int> max_size;
  bool cold_half = false;
  int tried = 4;
};

LayoutLimits limits_of(const OptimiseArguments& arguments) {
  LayoutLimits limits{.max_size = arguments.max_size, .cold_half = arguments.cold_half};
  if (arguments.abi.empty()) return limits;
  constexpr std::string_view kKeep = "keep-first=";
  const auto bytes =
      arguments.abi.starts_with(kKeep) ? decimal(std::string_view(arguments.abi).substr(kKeep.size())) : std::nullopt;
  if (!bytes || *bytes > 65536) throw ConfigError(fmt::format("--abi {}: expected keep-first=BYTES", arguments.abi));
  limits.keep_first = static_cast<int>(*bytes);
  return limits;
}

// Adds an arrangement unless `chosen` has an equal one.
void add_new(std::vector<Arrangement>& chosen, const Arrangement& it) {
  if (std::ranges::find(chosen, it.begins, &Arrangement::begins) == chosen.end()) chosen.push_back(it);
}

// Chooses at most `most` arrangements to replay: first the cheapest that is no larger than the present layout, if there is
// one, then the cheapest others. REQUIRES: `found` is sorted by cost.
std::vector<Arrangement> worth_replaying(std::vector<Arrangement> found, int present_size, std::size_t most) {
  const auto small = std::ranges::find_if(found, [present_size](const Arrangement& it) { return it.size <= present_size; });
  if (small != found.end()) std::rotate(found.begin(), small, small + 1);
  std::vector<Arrangement> chosen;
  for (const Arrangement& it : found) {
    if (chosen.size() < most) add_new(chosen, it);
  }
  return chosen;
}

// Takes arrangements from both lists in turn, best first, at most `most`.
std::vector<Arrangement> taken_in_turn(const std::vector<Arrangement>& ones, const std::vector<Arrangement>& others,
                                       std::size_t most) {
  std::vector<Arrangement> taken;
  for (std::size_t i = 0; i < std::max(ones.size(), others.size()); ++i) {
    for (const auto* list : {&ones, &others}) {
      if (i < list->size() && taken.size() < most) add_new(taken, (*list)[i]);
    }
  }
  return taken;
}

double worth(const TriedLayout& tried) {
  return std::accumulate(tried.gains.begin(), tried.gains.end(), 0.0,
                         [](double sum, const LayoutGain& gain) { return sum + gain.change.median_pct; });
}

bool may_be_best(const TriedLayout& tried) {
  const bool promises = std::ranges::any_of(tried.gains, [](const LayoutGain& it) { return it.change.promise_pct() > 0; });
  const bool loses = std::ranges::any_of(tried.gains, [](const LayoutGain& it) { return it.change.is_loss(); });
  return promises && !loses;
}

// The layout with the largest gain over all machines, or a smaller layout whose gain is hardly smaller. It must gain more
// than chance on some machine, and must not lose on any.
std::optional<std::size_t> best_layout(const std::vector<TriedLayout>& tried) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (may_be_best(tried[i]) && (!best || worth(tried[i]) > worth(tried[*best]))) best = i;
  }
  if (!best) return best;
  // Among layouts whose gain is not noticeably smaller than the best, chooses the smallest.
  const double enough = worth(tried[*best]) - kWorthIt * static_cast<double>(tried[*best].gains.size());
  std::size_t smallest = *best;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const bool is_smaller = tried[i].arranged.layout.size < tried[smallest].arranged.layout.size;
    if (is_smaller && may_be_best(tried[i]) && worth(tried[i]) >= enough) smallest = i;
  }
  return smallest;
}

// The members' types, from the names of the table's rows, such as "u32 rcv_nxt".
std::map<std::string, std::string> types_of(const AccessTable& table, const StructureAccesses& touched) {
  std::map<std::string, std::string> types;
  for (const LayoutUnit& unit : touched.units) {
    std::string text;
    for (const AccessRow& row : table.rows) {
      if (!is_called(unit.name, row.name)) continue;
      std::string type = row.type;
      std::ranges::replace(type, '_', ' ');
      // "struct_list_head" is `struct list_head`: only the first underscore stands for a space.
      const std::size_t first = row.type.find('_');
      const bool tagged = row.type.starts_with("struct_") || row.type.starts_with("enum_") || row.type.starts_with("union_");
      const bool plain = row.type.starts_with("unsigned_") || row.type.starts_with("signed_");
      if (!plain) type = tagged ? row.type.substr(0, first) + " " + row.type.substr(first + 1) : row.type;
      if (row.type.starts_with("__")) type = row.type;
      text += fmt::format("{}{} {}{}{}", text.empty() ? "" : "; ", type, row.name,
                          row.elements > 1 ? fmt::format("[{}]", row.elements) : "",
                          row.bits > 0 ? fmt::format(":{}", row.bits) : "");
    }
    if (!text.empty()) types[unit.name] = text;
  }
  return types;
}

class LayoutFinder {
 public:
  LayoutFinder(const OptimiseArguments& arguments, const std::vector<std::string>& argv)
      : arguments_(arguments),
        argv_(argv),
        limits_(limits_of(arguments)),
        input_(layout_input(arguments, arguments.structure, given(arguments))),
        trials_(arguments_, input_, argv_) {
    refuse_unexplained(input_.layout());
  }

  std::optional<LayoutReport> find(ExitCode& code) {
    LayoutReport report{.structure = input_.structure,
                        .accesses = arguments_.trace,
                        .touched = {},
                        .line_bytes = input_.line_bytes,
                        .max_size = arguments_.max_size};
    report.missing = input_.reader->summary().missing;
    report.limits = trace::limits_of(*input_.reader);
    report.basis = trials_.basis();
    report.assumptions = trials_.assumptions();
    std::size_t near_lines = 0;
    report.touched = trials_.accesses(near_lines);
    const std::vector<Arrangement> found = search(report, near_lines);
    for (const Arrangement& it : found) {
      const std::string name = fmt::format("layout_{}", report.tried.size() + 1);
      report.tried.push_back(
          {arranged(file(), input_.structure, name, members_of(report.touched, it), input_.line_bytes, input_.aligns), it.cost,
           it.exact});
    }
    if (report.tried.empty()) return report;
    if (!replay(report, code)) return std::nullopt;
    if (report.limits.may_reverse()) return report;
    report.best = best_layout(report.tried);
    if (report.best && !confirm(report, code)) return std::nullopt;
    if (report.best) write_out(report);
    return report;
  }

 private:
  static std::optional<Layout> given(const OptimiseArguments& arguments) {
    if (!arguments.binary.empty())
      return layout_of_binary(arguments.binary, arguments.structure, arguments.base, arguments.directory);
    if (!arguments.pahole.empty()) return layout_at(arguments.pahole, arguments.structure, arguments.base);
    if (!arguments.base.empty()) throw ConfigError("--base is for BTF of a kernel module: name it by --pahole or --binary");
    return std::nullopt;
  }

  [[nodiscard]] LayoutFile file() const {
    return {.name = input_.structure,
            .title = {},
            .line_bytes = input_.line_bytes,
            .layouts = workloads::layouts_of(input_.reader->symbols())};
  }

  // Searches for cheap arrangements under two orders of accesses. One is the order that the present layout causes: a CPU that
  // has waited for a line then accesses all members on it, so the search keeps these members together. The other is the order
  // of a layout in which members share no line.
  std::vector<Arrangement> search(LayoutReport& report, std::size_t near_lines) {
    const int line = input_.line_bytes;
    const int present = (report.touched.layout.size + line - 1) / line * line;
    const auto most = static_cast<std::size_t>(arguments_.tried);
    SharedLineCosts costs(report.touched, line, near_lines);
    LayoutSearch search(report.touched, costs, limits_);
    report.searched = search.touched();
    report.present_cost = search.present().cost;
    const std::vector<Arrangement> by_present = worth_replaying(search.find(), present, most);

    StructureAccesses apart = report.touched;
    const Arrangement single = search.apart();
    const auto members = members_of(report.touched, single);
    apart.sequence =
        trials_.sequence(report.touched, arranged(file(), input_.structure, "apart", members, line, input_.aligns));
    SharedLineCosts apart_costs(apart, line, near_lines);
    std::vector<Arrangement> by_apart = worth_replaying(LayoutSearch(apart, apart_costs, limits_).find(), present, most);
    for (Arrangement& it : by_apart) {
      it.cost = costs.of_layout(it.begins);
      it.exact = false;  // the search used the other order, so this cost is an estimate
    }
    std::vector<Arrangement> chosen = taken_in_turn(by_present, by_apart, most);
    // The cost model ignores that transfers of two lines overlap, and that a contended line may be taken away at once. So up
    // to two more arrangements are replayed: members grouped by role, and members on lines of their own. Structures with many
    // members go without them.
    if (search.touched() > LayoutSearch::kMostExact) return chosen;
    for (Arrangement it : {search.by_role(), single}) {
      it.cost = costs.of_layout(it.begins);
      if (it.size <= limits_.max_size.value_or(it.size)) add_new(chosen, it);
    }
    return chosen;
  }

  bool replay(LayoutReport& report, ExitCode& code) {
    std::vector<ArrangedLayout> layouts;
    for (const TriedLayout& tried : report.tried) layouts.push_back(tried.arranged);
    auto gains = trials_.gains("layouts", {}, layouts, {1, arguments_.orders}, code);
    if (!gains) return false;
    for (std::size_t i = 0; i < report.tried.size(); ++i) report.tried[i].gains = std::move((*gains)[i]);
    std::ranges::stable_sort(report.tried, std::ranges::greater{}, worth);
    return true;
  }

  // Replays the best layout again, in orders that were not used to choose it. Drops it unless it gains on some machine and
  // loses on none.
  bool confirm(LayoutReport& report, ExitCode& code) {
    const TriedLayout& best = report.tried[*report.best];
    auto gains = trials_.gains("confirmed", {}, {best.arranged}, {1 + arguments_.orders, arguments_.orders}, code);
    if (!gains) return false;
    report.confirmed = std::move(gains->front());
    const bool gained = std::ranges::any_of(report.confirmed, [](const LayoutGain& it) { return it.change.is_gain(); });
    const bool lost = std::ranges::any_of(report.confirmed, [](const LayoutGain& it) { return it.change.is_loss(); });
    if (!gained || lost) report.best.reset();
    return !report.best || trials_.over_pace(report.confirmed, {}, best.arranged, {1 + arguments_.orders, 2}, code);
  }

  void write_out(LayoutReport& report) const {
    const Layout& layout = report.tried[*report.best].arranged.layout;
    std::vector<CachelineGroup> groups;
    std::map<std::string, std::string> types;
    if (input_.table) {
      groups = cacheline_groups(report.touched, layout, input_.line_bytes);
      types = types_of(*input_.table, report.touched);
      report.assertions = assertions_text(report.touched, layout, types, groups);
    } else {
      report.patch = patch(report, layout);
    }
    report.declaration = declaration_text(report.touched, layout, input_.line_bytes, types, groups);
  }

  [[nodiscard]] LayoutPatch patch(const LayoutReport& report, const Layout& layout) const {
    const trace::Symbols& symbols = input_.reader->symbols();
    const auto structure = std::ranges::find(symbols.structures, input_.structure, &trace::Structure::name);
    LayoutEdit edit{.structure = static_cast<std::uint32_t>(structure - symbols.structures.begin())};
    for (std::uint32_t id = 0; id < symbols.objects.size(); ++id) {
      if (symbols.objects[id].structure == edit.structure) edit.objects.push_back(id);
    }
    // A gap before a member that is larger than its alignment requires begins a new group.
    int end = 0;
    for (const LayoutUnit& unit : units_of(layout)) {
      const int natural = (end + unit.alignment - 1) / unit.alignment * unit.alignment;
      if (edit.split.empty() || unit.begin != natural) edit.split.emplace_back();
      edit.split.back().push_back(unit.name);
      end = unit.end;
    }
    std::error_code error;
    const auto recorded = fs::last_write_time(input_.reader->file(), error);
    const SourceEdit made = source_edit({edit}, symbols, report.line_bytes, recorded);
    LayoutPatch patch{.diff = {}, .why_not = made.why_not, .place = made.place, .cautions = made.cautions};
    for (const SourceText& text : made.files) {
      const std::string name = text.path().string();
      patch.diff += text.diff(name.starts_with("/") ? name.substr(1) : name);
    }
    if (!patch.diff.empty()) {
      const fs::path out = fs::path(arguments_.directory) / "layout.diff";
      write_file(out, patch.diff);
      patch.file = out.string();
    }
    return patch;
  }

  const OptimiseArguments& arguments_;
  const std::vector<std::string>& argv_;
  LayoutLimits limits_;
  LayoutInput input_;
  LayoutTrials trials_;
};

ExitCode optimise(OptimiseArguments arguments, const std::vector<std::string>& argv) {
  if (arguments.directory.empty()) arguments.directory = (fs::path("out/layout") / arguments.structure).string();
  ExitCode code = ExitCode::done;
  const auto report = LayoutFinder(arguments, argv).find(code);
  if (!report) return code;
  const std::string document = layout_report_json(*report).dump(1) + "\n";
  make_own_directory(arguments.directory);
  replace_file(fs::path(arguments.directory) / "layout.json", document);
  std::cout << (arguments.json ? document : layout_report_text(*report, painter_for_stdout()));
  if (!arguments.json) std::cout << "\n" << results_line(arguments.directory, painter_for_stdout());
  return code;
}

}  // namespace

void add_layout_optimise(Command& layout) {
  auto arguments = std::make_shared<OptimiseArguments>();
  Command command = layout.child("optimise", "Search the order of a structure's members, and replay the best few");
  command.option("STRUCT", "", &arguments->structure, "The structure").required();
  command.option("--pahole", "FILE", &arguments->pahole,
                 "The structure's present layout: pahole's output, BTF types or a layout file; a recording has its own");
  command.option("--binary", "ELF", &arguments->binary, "The same from the debug information of a program or library");
  command.option("--base", "FILE", &arguments->base,
                 "For BTF of a kernel module: the file with its kernel's BTF, such as vmlinux or /sys/kernel/btf/vmlinux");
  add_layout_options(command, *arguments);
  command.option("--abi", "keep-first=N", &arguments->abi, "Members that begin in the first N bytes stay where they are");
  command.option("--max-size", "BYTES", &arguments->max_size, "The structure gets no larger").between(1, kLargestStructure);
  command.flag("--cold-half", arguments->cold_half,
               "Members that are hardly touched begin a line of their own, behind the others");
  command.option("--layouts", "N", &arguments->tried, "Layouts to choose by the model and replay; default: 4").between(1, 20);
  command.footer(kOptimiseFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return optimise(*arguments, argv); });
}

}  // namespace linebounce::sim
