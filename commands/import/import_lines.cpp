// Turns a perf c2c report into a results directory for `lines` and `report`, and into a reconstructed trace.
#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "commands/import/importers.hpp"
#include "forms/c2c_trace.hpp"
#include "forms/line_file.hpp"
#include "forms/perf_c2c.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/lines/line_rows.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/line_table.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr int kMostThreads = 8;

// Percentage of the CPUs whose node is not the line's home.
double remote_pct_of(const C2cUse& use, const std::optional<int>& home) {
  if (!home || use.nodes.empty()) return 0;
  const auto away = std::ranges::count_if(use.nodes, [&](int node) { return node != *home; });
  return 100 * static_cast<double>(away) / static_cast<double>(use.nodes.size());
}

// A structure, and its address within the report's lines.
struct PlacedStructure {
  Layout layout;
  std::uint64_t address = 0;  // of its first byte

  // The name of the field at this address; empty: padding.
  [[nodiscard]] std::string field_at(std::uint64_t at) const {
    const auto offset = static_cast<std::int64_t>(at - address);
    const auto field = std::ranges::find_if(layout.fields, [offset](const Field& one) {
      return offset >= one.offset && offset < std::int64_t{one.offset} + one.size;
    });
    return field == layout.fields.end() ? "" : field->name;
  }
  [[nodiscard]] bool covers(std::uint64_t at) const {
    return at >= address && at - address < static_cast<std::uint64_t>(layout.size);
  }
};

// The structure that the user says the lines contain; none without --layout. Errors: ConfigError if the layout has several
// structures and the user chose none.
std::optional<PlacedStructure> placed_structure(const ImportArguments& arguments, const C2cReport& report, Losses& losses) {
  if (arguments.layout.empty()) {
    if (!arguments.at.empty()) throw ConfigError("--at: says where a structure begins; name its file, too: --layout FILE");
    return std::nullopt;
  }
  const LayoutFile file = layouts_in(arguments.layout, {arguments.structures, arguments.base});
  const auto& all = file.layouts.all();
  if (all.size() != 1)
    throw ConfigError(fmt::format("{}: has {} structures; name the one that lies in the lines: --structure {}",
                                  arguments.layout, all.size(), all.begin()->first));
  PlacedStructure placed{all.begin()->second, report.lines.front().address};
  if (arguments.at.empty()) {
    losses.add(Loss::structure_at_first_line, placed.layout.name, fmt::format("{:#x}", placed.address));
    return placed;
  }
  const auto at = hexadecimal(arguments.at);
  if (!at)
    throw ConfigError(fmt::format("--at {}: expected an address in hexadecimal, such as 0xffff888101230000", arguments.at));
  placed.address = *at;
  const bool is_there = std::ranges::any_of(report.lines, [&placed](const C2cLine& line) {
    return std::ranges::any_of(line.uses, [&](const C2cUse& use) { return placed.covers(line.address + use.offset); });
  });
  if (!is_there)
    throw ConfigError(fmt::format("--at {}: none of the report's samples lies in the {} bytes of {} there", arguments.at,
                                  placed.layout.size, placed.layout.name));
  return placed;
}

class LineRows {
 public:
  LineRows(int mhz, std::optional<PlacedStructure> structure) : mhz_(mhz), structure_(std::move(structure)) {}

  std::vector<LineRow> of(const C2cReport& report) {
    for (std::size_t i = 0; i < report.lines.size(); ++i) {
      for (const C2cUse& use : report.lines[i].uses) add(report.lines[i], static_cast<std::int64_t>(i), use);
    }
    return std::move(rows_);
  }

 private:
  void add(const C2cLine& line, std::int64_t number, const C2cUse& use) {
    LineRow row;
    row.structure = "measured";
    row.object = fmt::format("{:#x}", line.address);
    row.line = number;
    row.offset = static_cast<std::int64_t>(use.offset);
    if (const std::uint64_t at = line.address + use.offset; structure_ && structure_->covers(at)) {
      row.structure = structure_->layout.name;
      row.field = structure_->field_at(at);
    }
    row.function = use.function;
    row.home = line.home.value_or(0);
    row.remote_pct = remote_pct_of(use, line.home);
    for (const int cpu : use.cpus) {
      if (cpu < kMostCpus) row.cpus.set(static_cast<std::size_t>(cpu));
    }
    append(row, "load", "local_c2c", use.local_hitm, use.local_hitm_cycles);
    append(row, "load", "remote_c2c", use.remote_hitm, use.remote_hitm_cycles);
    append(row, "store", "upgrade", use.stores, 0);
  }

  void append(LineRow row, const char* access, const char* source, double samples, double cycles) {
    constexpr double kNsOfMhz = 1000;
    row.count = std::llround(samples);
    if (row.count == 0) return;
    row.access = access;
    row.source = source;
    row.latency_ns_mean = cycles * kNsOfMhz / mhz_;
    row.waits = std::nullopt;
    rows_.push_back(std::move(row));
  }

  int mhz_;
  std::optional<PlacedStructure> structure_;
  std::vector<LineRow> rows_;
};

std::map<std::string, ReportedMetric> metrics_of(const C2cReport& report) {
  std::int64_t remote = 0, local = 0, stores = 0;
  for (const C2cLine& line : report.lines) {
    remote += line.remote_hitm;
    local += line.local_hitm;
    stores += line.stores;
  }
  return {
      {"samples.local_hitm", {local, "", {}}}, {"samples.remote_hitm", {remote, "", {}}}, {"samples.stores", {stores, "", {}}}};
}

// Writes the files that `lines` and `report` read.
void write_results(const fs::path& directory, const std::string& source, const std::vector<LineRow>& rows,
                   const C2cReport& report, const Losses& losses) {
  ReportedPoint point;
  point.metrics = metrics_of(report);
  Results results;
  results.experiment = "imported";
  results.machine = "measured";
  results.points = {point};
  results.answer.text = fmt::format("Measured, not simulated: samples of {}, by perf c2c.", source);
  results.assumptions = losses.sentences();
  make_own_directory(directory);
  PointData data;
  data.lines = rows;
  for (const CsvFile& file : csv_files(0, data)) {
    if (file.name == "lines.csv") replace_file(directory / file.name, file.content);
  }
  replace_file(directory / "results.json", results_text(results));
}

// Writes a trace beside the results, and prints the command that simulates it.
void write_reconstruction(const C2cReport& report, const fs::path& in, const fs::path& directory, const Painter& paint) {
  const fs::path trace = fs::path(directory / in.stem()).concat(".reconstruction.lbt");
  UnfinishedFile file(trace);
  trace::Writer writer(file.path());
  trace::Summary summary;
  summary.program = in.filename().string() + ", a reconstruction";
  summary.recorder = "linebounce import " + in.filename().string();
  summary.missing = write_c2c_trace(report, kMostThreads, writer).sentences();
  writer.finish(summary);
  file.finish();
  // Suggests a machine with lines of 64 bytes, because perf c2c measures such lines.
  std::cout << fmt::format("  Simulate: linebounce trace replay {} --machine generic_2socket_32core\n",
                           shell_word(trace.string()))
            << paragraph(facts_text(Loss::reconstruction, "perf c2c"), 2, Colour::none, paint);
}

std::string share_text(std::int64_t part, std::int64_t all) {
  return all > 0 && part <= all ? fmt::format("{:.3g} %", 100 * static_cast<double>(part) / static_cast<double>(all)) : "";
}

// Prints the counts that are not 0. A count of loads or stores also gets its percentage of all loads or all stores.
void print_counts(const C2cReport& report, const Painter& paint) {
  const std::int64_t loads = report.count_of("Load Operations"), stores = report.count_of("Store Operations");
  Table table(
      {names("samples of all lines"), figures("samples", 10, 2), figures("of loads", 10, 1), figures("of stores", 10, 1)},
      paint);
  table.add_rule();
  bool of_shared_lines = false;
  for (const C2cCount& count : report.counts) {
    if (count.of_shared_lines && !of_shared_lines) table.add({{"of lines with HITM", Colour::bold}});
    of_shared_lines = count.of_shared_lines;
    if (count.samples == 0) continue;
    const bool is_load = count.name.starts_with("Load"), is_store = count.name.starts_with("Store");
    table.add({count.name, std::to_string(count.samples), is_load ? share_text(count.samples, loads) : "",
               is_store ? share_text(count.samples, stores) : ""});
  }
  const std::int64_t hitm = report.count_of("Load Local HITM") + report.count_of("Load Remote HITM");
  std::cout << table.text() << "\n"
            << paragraph(fmt::format("Of {} sampled loads, {} found their line modified in another core's cache (HITM).", loads,
                                     hitm),
                         2, Colour::none, paint)
            << losses_text(report.losses, paint);
}

ExitCode import_counts(const ImportArguments& arguments, const C2cReport& report) {
  if (!arguments.out.empty() || arguments.mhz)
    throw ConfigError(fmt::format(
        "{}: the text of --stats has counts alone, no lines and no cycles: nothing is written, and -o and --mhz have no effect",
        arguments.files.front()));
  print_counts(report, arguments.painter());
  return ExitCode::done;
}

}  // namespace

ExitCode import_lines(const ImportArguments& arguments, const Form&) {
  const fs::path in = arguments.files.front();
  const C2cReport report = read_c2c_report(in);
  if (report.lines.empty()) return import_counts(arguments, report);
  const fs::path directory = arguments.out.empty() ? fs::path("out") / in.stem() : fs::path(arguments.out);
  const int mhz = arguments.mhz.value_or(kAssumedMhz);
  Losses losses = report.losses;
  if (!arguments.mhz) losses.add(Loss::clock_assumed, "perf c2c", std::to_string(mhz));
  losses.add(Loss::stores_without_source, "perf c2c");
  const std::vector<LineRow> rows = LineRows(mhz, placed_structure(arguments, report, losses)).of(report);
  write_results(directory, in.filename().string(), rows, report, losses);
  const Painter paint = arguments.painter();
  constexpr std::size_t kShown = 3;
  std::cout << line_table(lines_of(rows, {}), kShown, paint) << "\n" << losses_text(losses, paint);
  std::cout << fmt::format("\n  {}  of {}: {}\n  See all:  linebounce lines {}\n", directory.string(), in.string(),
                           plural(report.lines.size(), "line"), shell_word(directory.string()));
  const bool has_hitm =
      std::ranges::any_of(report.lines, [](const C2cLine& line) { return line.remote_hitm + line.local_hitm > 0; });
  if (has_hitm) {
    write_reconstruction(report, in, directory, paint);
  } else {
    std::cout << paragraph("No line has samples of HITM: there is no reconstruction.", 2, Colour::none, paint);
  }
  return ExitCode::done;
}

}  // namespace linebounce::sim
