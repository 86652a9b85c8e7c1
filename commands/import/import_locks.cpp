// Imports lock statistics. They contain no operations, so they are shown as tables. A trace is written only if its replay would
// reproduce the measured figures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands/import/importers.hpp"
#include "commands/import/lock_statistics_table.hpp"
#include "forms/lock_mix.hpp"
#include "forms/recognised.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/limits_text.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> write_mix(const LockMix& mix, const ImportArguments& arguments, const fs::path& out) {
  UnfinishedFile file(out);
  trace::Writer writer(file.path());
  trace::Summary summary;
  summary.program = fs::path(arguments.files.front()).filename().string();
  const int mhz = arguments.mhz.value_or(kAssumedMhz);
  summary.recorder = fmt::format("linebounce import {} --seconds {:g} --cpus {} --mhz {}", summary.program,
                                 mix.measured.seconds, mix.measured.cpus, mhz);
  summary.missing = write_lock_mix(mix, mhz, writer);
  writer.finish(summary);
  file.finish();
  return summary.missing;
}

void refuse_trace(const ImportArguments& arguments, const LockStatisticsFile& statistics) {
  const std::string& file = arguments.files.front();
  if (!statistics.why_no_trace.empty())
    throw ConfigError(fmt::format("{}: {} {}, so no trace can be made; without options it is only printed", file,
                                  statistics.tool, statistics.why_no_trace));
  if (!arguments.seconds || !arguments.cpus)
    throw ConfigError(
        fmt::format("{}: {} does not say how long it counted: a trace needs --seconds (since the statistics were cleared) and "
                    "--cpus (the number that were online)",
                    file, statistics.tool));
}

ExitCode import_mix(const ImportArguments& arguments, const LockStatisticsFile& statistics, const Painter& paint) {
  const fs::path out = output_of(arguments, ".lbt");
  const LockMix mix = lock_mix(statistics.locks, {*arguments.seconds, *arguments.cpus, statistics.tool});
  if (mix.locks.empty()) {
    std::string text = arguments.files.front() + ": a trace would not repeat the measurement of any lock";
    for (const std::string& sentence : left_out_sentences(mix)) text += "\n  " + sentence;
    throw ConfigError(text);
  }
  const std::vector<std::string> missing = write_mix(mix, arguments, out);
  std::cout << lock_mix_table(mix, paint) << "\n"
            << fmt::format("  {}  of {}: made of statistics\n", out.string(), arguments.files.front())
            << not_seen_text(missing, paint);
  return ExitCode::done;
}

constexpr std::array kColumns = {"name",        "kind",         "waits",         "wait_total_us",
                                 "wait_max_us", "acquisitions", "hold_total_us", "hold_max_us"};

// One lock's row, by column; null: unknown.
std::array<nlohmann::ordered_json, kColumns.size()> row_of(const LockStatistics& lock) {
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::ordered_json(value.value_or(0)) : nlohmann::ordered_json();
  };
  const auto longest = lock.hold ? lock.hold->longest_us : std::nullopt;
  const nlohmann::ordered_json held = lock.hold ? nlohmann::ordered_json(lock.hold->total_us) : nlohmann::ordered_json();
  return {lock.name, lock.kind,       lock.waits, lock.wait.total_us, or_null(lock.wait.longest_us), or_null(lock.acquisitions),
          held,      or_null(longest)};
}

std::string json_text(const LockStatisticsFile& statistics) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const LockStatistics& lock : statistics.locks) {
    const auto cells = row_of(lock);
    nlohmann::ordered_json row;
    for (std::size_t i = 0; i < kColumns.size(); ++i) row[kColumns[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string csv_text(const LockStatisticsFile& statistics) {
  std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
  for (const LockStatistics& lock : statistics.locks) {
    std::vector<std::string> cells;
    for (const nlohmann::ordered_json& cell : row_of(lock))
      cells.push_back(cell.is_null() ? "" : cell.is_string() ? csv_field(cell.get<std::string>()) : cell.dump());
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

bool is_table(const fs::path& out) {
  return out.extension() == ".csv" || out.extension() == ".json";
}

void write_table(const LockStatisticsFile& statistics, const fs::path& out, const std::string& in) {
  write_file(out, out.extension() == ".csv" ? csv_text(statistics) : json_text(statistics));
  std::cout << fmt::format("\n  {}  of {}: {}, times in us\n", out.string(), in, plural(statistics.locks.size(), "row"));
}

}  // namespace

ExitCode import_locks(const ImportArguments& arguments, const Form& form) {
  const Painter paint = arguments.painter();
  const LockStatisticsFile statistics = form.read_locks(arguments.files.front());
  if (fs::path(arguments.out).extension() == ".parquet")
    throw ConfigError(
        fmt::format("{0}: write CSV first, -o waits.csv; then: linebounce tables waits.csv -o {0}", arguments.out));
  const bool table = is_table(arguments.out);
  const bool wanted = (!arguments.out.empty() && !table) || arguments.seconds || arguments.cpus || arguments.mhz;
  if (wanted) refuse_trace(arguments, statistics);
  std::cout << fmt::format("  {}: {}\n\n", arguments.files.front(), statistics.tool)
            << lock_statistics_table(statistics, arguments.seconds, paint) << "\n"
            << losses_text(statistics.losses, paint);
  if (wanted) return import_mix(arguments, statistics, paint);
  if (table) write_table(statistics, output_of(arguments, ".csv"), arguments.files.front());
  std::cout << paragraph(statistics.why_no_trace.empty()
                             ? "With --seconds and --cpus, import makes a trace that holds these locks equally often and long."
                             : "No trace can be made of these: " + statistics.tool + " " + statistics.why_no_trace + ".",
                         2, Colour::none, paint);
  return ExitCode::done;
}

}  // namespace linebounce::sim
