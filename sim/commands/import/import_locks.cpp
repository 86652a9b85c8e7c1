// Lock statistics contain no operations. They are shown, and become a trace only where its replay would repeat what was
// measured.
#include <fmt/format.h>

#include <iostream>

#include "sim/commands/import/importers.hpp"
#include "sim/commands/recognised.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/sources/lock_mix.hpp"
#include "sim/terminal/lock_statistics_table.hpp"

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
    throw ConfigError(file +
                      ": lock_stat does not say how long it counted: a trace needs --seconds (since the "
                      "statistics were cleared) and --cpus (the number that were online)");
}

ExitCode import_mix(const ImportArguments& arguments, const LockStatisticsFile& statistics, const Painter& paint) {
  const fs::path out = output_of(arguments, ".lbt");
  const LockMix mix = lock_mix(statistics.locks, {*arguments.seconds, *arguments.cpus});
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

}  // namespace

ExitCode import_locks(const ImportArguments& arguments, const Form& form) {
  const Painter paint = arguments.painter();
  const LockStatisticsFile statistics = form.read_locks(arguments.files.front());
  const bool wanted = !arguments.out.empty() || arguments.seconds || arguments.cpus || arguments.mhz;
  if (wanted) refuse_trace(arguments, statistics);
  std::cout << fmt::format("  {}: {}\n\n", arguments.files.front(), statistics.tool)
            << lock_statistics_table(statistics, arguments.seconds, paint) << "\n"
            << losses_text(statistics.losses, paint);
  if (wanted) return import_mix(arguments, statistics, paint);
  std::cout << paragraph(statistics.why_no_trace.empty()
                             ? "With --seconds and --cpus, import makes a trace that holds these locks equally often and long."
                             : "No trace can be made of these: " + statistics.tool + " " + statistics.why_no_trace + ".",
                         2, Colour::none, paint);
  return ExitCode::done;
}

}  // namespace linebounce::sim
