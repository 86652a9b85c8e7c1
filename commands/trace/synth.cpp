// `linebounce trace synth`
#include "forms/synth.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "forms/kernel_loads.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "trace/files.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

constexpr const char* kSynthFooter = R"(Examples:
  linebounce trace synth -o counters.lbt --threads 8 --objects 1 --shared 100 --reads 0 --atomics 100
      eight threads that increment one word
  linebounce trace synth -o cache.lbt --locks 1 --section 20 --between 500 --skew 0.9
      a table under one lock; --locks 16: under striped ones
  linebounce trace synth -o private.lbt --shared 0 --accesses 100000000 --between 0
      private data only, 10^8 accesses for each thread
  linebounce trace synth -o small.txt --threads 2 --accesses 20
      as readable text
  linebounce trace synth dentry -o lookups.lbt --threads 16
      a kernel workload: dentry, refcount, timer or slab, each with its own options (docs/loads.md)

Each thread repeats the same steps: it computes, draws a shared object, acquires the object's lock if there are locks, makes a
section of accesses, and releases the lock. Under a lock, all shared accesses of a section go to that object; without locks, each
access draws its own. All other accesses go to the thread's private memory. Each access is 8 bytes. The same options and seed give
the same trace.)";

template <class Spec>
struct Arguments {
  Spec spec;
  std::string output;
};

// Creates the file `output`, fills it by `write`, and prints the description `content`.
ExitCode make_trace(const std::string& output, const std::vector<std::string>& argv, const std::string& content,
                    const std::function<void(trace::Writer&)>& write) {
  if (output.empty()) throw UsageError("--output is required");
  trace::require_trace_name("--output", output);
  UnfinishedFile file(output);
  trace::Writer out(file.path());
  write(out);
  trace::Summary summary;
  summary.program = "synthetic";
  summary.recorder = fmt::format("linebounce {}", fmt::join(argv.begin() + 1, argv.end(), " "));
  out.finish(summary);
  file.finish();
  std::cout << output << ": " << content << "\n";
  return ExitCode::done;
}

// Refuses locks whose readers run beside writers, because the writers here change their data in place.
void require_lock(const std::string& name) {
  const std::vector<std::string> legal =
      lock_names([](const LockTraits& traits) { return traits.excludes && traits.readers != Readers::never_wait; });
  if (std::ranges::find(legal, name) == legal.end()) throw ConfigError("--lock: lock " + not_known(name, legal));
}

template <class T>
void add(Command& command, const char* name, T& value, const char* type, T least, T most, const std::string& meaning) {
  command.option(name, type, &value, fmt::format("{}; {} to {}; default: {}", meaning, least, most, value))
      .between(least, most);
}

void add_output(Command& command, std::string& output) {
  command.option("-o,--output", "FILE", &output, "The trace: NAME.lbt, or NAME.txt as text");
}

void add_threads(Command& command, int& threads) {
  add(command, "--threads", threads, "N", 1, 1024, "Threads, one for each CPU");
}

void add_between(Command& command, int& cycles, const std::string& before_what) {
  add(command, "--between", cycles, "CYCLES", 0, 1000000000, "Computation before each " + before_what + ", on average");
}

Option add_lock(Command& command, std::string& algorithm) {
  return command.option("--lock", "NAME", &algorithm,
                        "The locks' algorithm, of `linebounce list locks`; default: " + algorithm);
}

void add_skew(Command& command, double& skew, const std::string& of_what) {
  command
      .option("--skew", "S", &skew,
              fmt::format("Exponent of Zipf's law by which {} are drawn; 0 (uniform) to 8; default: {}", of_what, skew))
      .between_reals(0, 8);
}

void add_seed(Command& command, std::uint64_t& seed) {
  add(command, "--seed", seed, "SEED", std::uint64_t{0}, std::uint64_t{1} << 53, "Seed of the trace");
}

ExitCode synth(const Arguments<SynthSpec>& arguments, const std::vector<std::string>& argv) {
  const SynthSpec& spec = arguments.spec;
  if (spec.object_bytes % 8 != 0)
    throw ConfigError(fmt::format("--object-size: {} is not a multiple of 8, the size of an access", spec.object_bytes));
  require_lock(spec.algorithm);
  return make_trace(arguments.output, argv,
                    fmt::format("{} accesses of {} threads", spec.accesses * spec.threads, spec.threads),
                    [&spec](trace::Writer& out) { write_synthetic(spec, out); });
}

void add_options(Command& command, Arguments<SynthSpec>& arguments) {
  SynthSpec& spec = arguments.spec;
  add_output(command, arguments.output);
  add_threads(command, spec.threads);
  add(command, "--accesses", spec.accesses, "N", std::int64_t{1}, std::int64_t{1} << 40, "Accesses by each thread");
  add(command, "--objects", spec.objects, "N", 1, 65536, "Objects that all threads use");
  add(command, "--object-size", spec.object_bytes, "BYTES", 8, 1 << 20, "Size of each, a multiple of 8");
  add(command, "--private", spec.private_kib, "KIB", 1, 1 << 20, "Each thread's own memory");
  add(command, "--shared", spec.shared_pct, "PCT", 0, 100, "Share of accesses that go to shared objects");
  add_skew(command, spec.skew, "shared objects");
  add(command, "--reads", spec.read_pct, "PCT", 0, 100, "Share of accesses that read");
  add(command, "--atomics", spec.atomic_pct, "PCT", 0, 100, "Share of atomic operations among the writes of shared objects");
  add(command, "--locks", spec.locks, "N", 0, 65536, "Locks; object K is under lock K modulo N");
  add_lock(command, spec.algorithm).belongs_to({"--locks"});
  add(command, "--section", spec.section, "N", 1, 1000000, "Accesses in each section");
  add(command, "--read-sections", spec.shared_section_pct, "PCT", 0, 100,
      "Share of sections that only read shared data and take the lock as readers, which many locks admit one at a time");
  add_between(command, spec.between_cycles, "section");
  add_seed(command, spec.seed);
}

// ---- synthetic loads with the operations of kernel subsystems ----

void require_room(const SlabLoad& load) {
  if (load.batch > load.array)
    throw UsageError(fmt::format("--batch {} is more than --array {}: an array has no room for it", load.batch, load.array));
}
void require_room(const auto& /*no arrays*/) {}

// `add_own` adds the options that only this load has.
template <class Load, class AddOwn>
void add_load(Command& synth, const char* name, const char* meaning, AddOwn add_own, const char* example) {
  auto arguments = std::make_shared<Arguments<Load>>();
  Command command = synth.child(name, meaning);
  LoadSpec& common = arguments->spec.common;
  add_output(command, arguments->output);
  add_threads(command, common.threads);
  add(command, "--operations", common.operations, "N", std::int64_t{1}, std::int64_t{1} << 32, "Operations of each thread");
  add_between(command, common.between_cycles, "operation");
  add_seed(command, common.seed);
  add_own(command, arguments->spec);
  command.footer(example);
  command.action([arguments](const std::vector<std::string>& argv) {
    const LoadSpec& spec = arguments->spec.common;
    require_lock(spec.algorithm);
    require_room(arguments->spec);
    return make_trace(arguments->output, argv,
                      fmt::format("{} operations of {} threads", spec.operations * spec.threads, spec.threads),
                      [&arguments](trace::Writer& out) { write_load(arguments->spec, out); });
  });
}

void add_loads(Command& synth) {
  add_load<DentryLoad>(
      synth, "dentry", "Path lookups in a directory cache under one lock",
      [](Command& command, DentryLoad& load) {
        add(command, "--dentries", load.dentries, "N", 1, 65536, "Entries");
        add(command, "--components", load.components, "N", 1, 64, "Names of a path: an acquisition and a reference each");
        add(command, "--updates", load.updates_pct, "PCT", 0, 100, "Operations that move an entry to another hash chain");
        add_skew(command, load.skew, "entries");
        add_lock(command, load.common.algorithm);
      },
      "\nExamples:\n  linebounce trace synth dentry -o lookups.lbt --threads 8\n"
      "  linebounce compare-locks lookups.lbt --machine p3_xeon_8way\n      which lock would cost less than dcache_lock does");
  add_load<RefcountLoad>(
      synth, "refcount", "References to shared objects, counted up and down",
      [](Command& command, RefcountLoad& load) {
        add(command, "--objects", load.objects, "N", 1, 65536, "Objects");
        add(command, "--reads", load.reads, "N", 0, 1000, "Words that are read of an object while it is held");
        add_skew(command, load.skew, "objects");
      },
      "\nExamples:\n  linebounce trace synth refcount -o references.lbt --objects 1\n"
      "  linebounce trace replay references.lbt --machine x445_8way\n      what a count that everybody writes costs");
  add_load<TimerLoad>(
      synth, "timer", "Timers in a base of each CPU, some moved by other CPUs",
      [](Command& command, TimerLoad& load) {
        add(command, "--timers", load.timers, "N", 1, 4096, "Timers of each CPU");
        add(command, "--remote", load.remote_pct, "PCT", 0, 100, "Operations on another CPU's timer");
        add_lock(command, load.common.algorithm);
      },
      "\nExamples:\n  linebounce trace synth timer -o timers.lbt --remote 40\n"
      "  linebounce trace replay timers.lbt --machine itanium2_two_node_16way\n      what it costs that timers are armed "
      "elsewhere");
  add_load<SlabLoad>(
      synth, "slab", "Objects from arrays of each CPU over shared lists, some freed by other CPUs",
      [](Command& command, SlabLoad& load) {
        add(command, "--array", load.array, "N", 1, 4096, "Objects that a CPU's array holds");
        add(command, "--batch", load.batch, "N", 1, 4096,
            "Objects that are moved from or to the lists at once, at most --array");
        add(command, "--remote", load.remote_pct, "PCT", 0, 100, "Objects that another CPU frees");
        add_lock(command, load.common.algorithm);
      },
      "\nExamples:\n  linebounce trace synth slab -o slab.lbt --remote 50\n"
      "  linebounce trace replay slab.lbt --machine numaq_16way\n      what it costs that objects are freed elsewhere");
}

}  // namespace

void add_trace_synth(Command& trace) {
  auto arguments = std::make_shared<Arguments<SynthSpec>>();
  Command command = trace.child("synth", "Make a trace from a few numbers, without a program");
  add_options(command, *arguments);
  add_loads(command);
  command.footer(kSynthFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return synth(*arguments, argv); });
}

}  // namespace linebounce::sim
