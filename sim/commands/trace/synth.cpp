// `linebounce trace synth`
#include "sim/sources/synth.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "sim/commands/commands.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr const char* kFooter = R"(
Examples:
  linebounce trace synth -o counters.lbt --threads 8 --objects 1 --shared 100 --reads 0 --atomics 100
      eight threads that increment one word
  linebounce trace synth -o cache.lbt --locks 1 --section 20 --between 500 --skew 0.9
      a table under one lock; --locks 16: under striped ones
  linebounce trace synth -o private.lbt --shared 0 --accesses 100000000 --between 0
      nothing but private data, 10^8 accesses of each thread
  linebounce trace synth -o small.txt --threads 2 --accesses 20
      as text, to look at

Each thread repeats the same steps: it computes, draws a shared object, acquires its lock if there are locks, makes a section of
accesses, and releases the lock. Under a lock, all shared accesses of a section go to that object; without locks each access
draws its own. The other accesses go to the thread's own memory. All accesses are of 8 bytes. The same options and the same seed
give the same trace.)";

struct SynthArguments {
  SynthSpec spec;
  std::string output;
  double skew = 0;
};

// Whatever keeps writers out of data that they change in place.
void require_lock(const std::string& name) {
  const std::vector<std::string> legal =
      lock_names([](const LockTraits& traits) { return traits.excludes && traits.readers != Readers::never_wait; });
  if (std::find(legal.begin(), legal.end(), name) == legal.end())
    throw ConfigError("--lock: the lock " + not_known(name, legal));
}

ExitCode synth(const SynthArguments& arguments, const std::vector<std::string>& argv) {
  SynthSpec spec = arguments.spec;
  if (spec.object_bytes % 8 != 0)
    throw ConfigError(fmt::format("--object-size: {} is no multiple of 8, the size of an access", spec.object_bytes));
  require_lock(spec.algorithm);
  spec.zipf_milli = static_cast<int>(std::lround(arguments.skew * 1000));
  UnfinishedFile file(arguments.output);
  trace::Writer out(file.path());
  write_synthetic(spec, out);
  trace::Summary summary;
  summary.program = "synthetic";
  summary.recorder = fmt::format("linebounce {}", fmt::join(argv.begin() + 1, argv.end(), " "));
  out.finish(summary);
  file.finish();
  std::cout << fmt::format("{}: {} accesses of {} threads\n", arguments.output, spec.accesses * spec.threads, spec.threads);
  return ExitCode::done;
}

template <class T>
void add(Command& command, const char* name, T& value, const char* type, T least, T most, const std::string& meaning) {
  command.option(name, type, &value, fmt::format("{}; {} to {}; default: {}", meaning, least, most, value))
      .between(least, most);
}

void add_options(Command& command, SynthArguments& arguments) {
  SynthSpec& spec = arguments.spec;
  command.option("-o,--output", "FILE", &arguments.output, "The trace; text if its name ends in .txt").required();
  add(command, "--threads", spec.threads, "N", 1, 1024, "Threads, one for each CPU");
  add(command, "--accesses", spec.accesses, "N", std::int64_t{1}, std::int64_t{1} << 40, "Accesses of each thread");
  add(command, "--objects", spec.objects, "N", 1, 65536, "Objects that all threads use");
  add(command, "--object-size", spec.object_bytes, "BYTES", 8, 1 << 20, "Size of each, a multiple of 8");
  add(command, "--private", spec.private_kib, "KIB", 1, 1 << 20, "Each thread's own memory");
  add(command, "--shared", spec.shared_pct, "PCT", 0, 100, "Share of accesses that go to shared objects");
  command
      .option("--skew", "S", &arguments.skew,
              "Exponent of Zipf's law by which shared objects are drawn; 0 (uniform) to 8; default: 0")
      .between_reals(0, 8);
  add(command, "--reads", spec.read_pct, "PCT", 0, 100, "Share of accesses that read");
  add(command, "--atomics", spec.atomic_pct, "PCT", 0, 100, "Share of atomic operations among the writes of shared objects");
  add(command, "--locks", spec.locks, "N", 0, 65536, "Locks; object K is under lock K modulo N");
  command.option("--lock", "NAME", &spec.algorithm, "Their algorithm, of `linebounce list locks`; default: " + spec.algorithm);
  add(command, "--section", spec.section, "N", 1, 1000000, "Accesses of a section");
  add(command, "--read-sections", spec.shared_section_pct, "PCT", 0, 100,
      "Share of sections that only read shared data, under the lock as readers (which many locks admit one by one)");
  add(command, "--between", spec.between_cycles, "CYCLES", 0, 1000000000, "Computation before each section, on average");
  add(command, "--seed", spec.seed, "SEED", std::uint64_t{0}, std::uint64_t{1} << 53, "Seed of the trace");
}

}  // namespace

void add_trace_synth(Command& trace) {
  auto arguments = std::make_shared<SynthArguments>();
  Command command = trace.subcommand("synth", "Make a trace from a few numbers, without a program");
  add_options(command, *arguments);
  command.footer(kFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return synth(*arguments, argv); });
}

}  // namespace linebounce::sim
