// `linebounce import`
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

#include "sim/commands/command.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/sources/formats.hpp"
#include "sim/sources/lock_mix.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/terminal/lock_statistics_table.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr int kImportMhz = 3000;  // clock of the generic machines

constexpr const char* kImportFooter = R"(Examples:
  perf c2c record -a -- sleep 5 && linebounce import perf.data && linebounce find-sharing perf.lbt
      lines that programs on this machine share falsely, from samples
  linebounce import lackey.log -o ls.lbt
      of: valgrind --tool=lackey --trace-mem=yes --log-file=lackey.log ls
  linebounce import view.txt -o server.lbt
      of: drrun -t drmemtrace -offline -- ./server; drrun -t drmemtrace -tool view -indir drmemtrace.server.*.dir 2> view.txt
  perf lock record -a -- sleep 5; perf lock contention 2> waits.txt; linebounce import waits.txt
      where a kernel waits for its locks; of perf lock report, too
  linebounce import lock_stat.txt --seconds 10 --cpus 32 && linebounce compare-locks lock_stat.lbt
      of: echo 1 > /proc/sys/kernel/lock_stat; echo 0 > /proc/lock_stat; sleep 10; cat /proc/lock_stat > lock_stat.txt

FILE's kind is told by its content. perf itself reads perf.data: best on the machine that recorded it, which knows the functions'
names. Samples are some accesses of many, without locks and without an order between threads: what they show to be shared is
shared; how much that costs is an estimate, and what they do not show may be shared, too.

Statistics of locks are printed, hottest first. lock_stat (CONFIG_LOCK_STAT) also has acquisitions and holds, of which a trace is
made that takes the same locks as often and as long, if --seconds and --cpus tell what they were counted over. A class whose
waiting such a trace would not repeat is left out of it, and named. perf lock has no holds: no trace can be made of it.)";

struct ImportArguments {
  std::string in;
  std::string out;
  std::optional<double> seconds;
  std::optional<int> cpus;
  std::optional<int> mhz;
};

fs::path output_of(const ImportArguments& arguments) {
  const fs::path out = arguments.out.empty() ? fs::path(arguments.in).stem().concat(".lbt") : fs::path(arguments.out);
  std::error_code ignored;
  if (fs::equivalent(arguments.in, out, ignored))
    throw ConfigError(fmt::format("{}: is the file that is read; name another with -o", out.string()));
  return out;
}

ExitCode import_trace(const ImportArguments& arguments, const SourceFormat& format) {
  if (arguments.seconds || arguments.cpus || arguments.mhz)
    throw ConfigError(fmt::format("{}: is {}; --seconds, --cpus and --mhz are for lock_stat", arguments.in, format.name));
  const fs::path out = output_of(arguments);
  UnfinishedFile file(out);
  const std::vector<std::string> missing = convert_foreign(format, arguments.in, file.path());
  file.finish();
  std::cout << fmt::format("  {}  of {}: {}\n", out.string(), arguments.in, format.name)
            << not_seen_text(missing, painter_for_stdout());
  return ExitCode::done;
}

std::vector<std::string> write_mix(const LockMix& mix, const ImportArguments& arguments, const fs::path& out) {
  UnfinishedFile file(out);
  trace::Writer writer(file.path());
  trace::Summary summary;
  summary.program = fs::path(arguments.in).filename().string();
  const int mhz = arguments.mhz.value_or(kImportMhz);
  summary.recorder = fmt::format("linebounce import {} --seconds {:g} --cpus {} --mhz {}", summary.program,
                                 mix.measured.seconds, mix.measured.cpus, mhz);
  summary.missing = write_lock_mix(mix, mhz, writer);
  writer.finish(summary);
  file.finish();
  return summary.missing;
}

// Statistics hold no operations. They are printed, and become a trace only if that would reproduce the measured waiting.
ExitCode import_statistics(const ImportArguments& arguments, const LockStatisticsFile& statistics) {
  const Painter paint = painter_for_stdout();
  const bool wanted = !arguments.out.empty() || arguments.seconds || arguments.cpus || arguments.mhz;
  const bool has_holds = statistics.tool == "lock_stat";
  if (wanted && !has_holds)
    throw ConfigError(
        fmt::format("{}: {} does not say how long a lock was held, so no trace can be made; without options it is "
                    "printed",
                    arguments.in, statistics.tool));
  if (wanted && (!arguments.seconds || !arguments.cpus))
    throw ConfigError(arguments.in +
                      ": lock_stat does not say what it counted over: a trace needs --seconds (since the "
                      "statistics were cleared) and --cpus (that were online)");
  std::cout << fmt::format("  {}: {}\n\n", arguments.in, statistics.tool)
            << lock_statistics_table(statistics, arguments.seconds, paint) << "\n";
  if (!wanted) {
    std::cout << paragraph(has_holds ? "With --seconds and --cpus, a trace is made that takes these locks as often and as long."
                                     : "No trace can be made of these: how long a lock was held is not told.",
                           2, Colour::none, paint);
    return ExitCode::done;
  }
  const fs::path out = output_of(arguments);
  const LockMix mix = lock_mix(statistics.locks, {*arguments.seconds, *arguments.cpus});
  if (mix.locks.empty()) {
    std::string text = arguments.in + ": of no lock a trace would repeat what was measured";
    for (const std::string& sentence : left_out_sentences(mix)) text += "\n  " + sentence;
    throw ConfigError(text);
  }
  const std::vector<std::string> missing = write_mix(mix, arguments, out);
  std::cout << lock_mix_table(mix, paint) << "\n"
            << fmt::format("  {}  of {}: made of statistics\n", out.string(), arguments.in) << not_seen_text(missing, paint);
  return ExitCode::done;
}

ExitCode import_file(const ImportArguments& arguments) {
  if (!fs::exists(arguments.in)) throw trace::TraceError(arguments.in + ": there is no such file");
  if (const SourceFormat* format = format_of(arguments.in)) return import_trace(arguments, *format);
  if (const auto statistics = read_lock_statistics(arguments.in)) return import_statistics(arguments, *statistics);
  throw ConfigError(arguments.in +
                    ": is neither perf.data nor what perf lock, /proc/lock_stat, drmemtrace's view tool or lackey print; "
                    "`linebounce trace convert` reads more formats");
}

}  // namespace

void add_import(Command& program) {
  auto arguments = std::make_shared<ImportArguments>();
  Command command = program.subcommand("import", "Make a trace of what another tool has recorded; show a kernel's locks");
  command
      .option(
          "FILE", "", &arguments->in,
          "What perf mem or c2c record, perf lock, /proc/lock_stat, DynamoRIO's drmemtrace or valgrind's lackey has written")
      .required();
  command.option("-o,--output", "OUT", &arguments->out, "The trace; default: FILE's name with .lbt; .txt: as text");
  command.option("--seconds", "S", &arguments->seconds, "lock_stat: how long it counted").between_reals(0.001, 1e6);
  command.option("--cpus", "N", &arguments->cpus, "lock_stat: of how many CPUs").between(2, 1024);
  command.option("--mhz", "M", &arguments->mhz, fmt::format("lock_stat: their clock; default: {}", kImportMhz))
      .between(1, 20000);
  command.footer(kImportFooter);
  command.action([arguments] { return import_file(*arguments); });
}

}  // namespace linebounce::sim
