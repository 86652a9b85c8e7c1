#include "commands/run/run_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <iostream>
#include <optional>

#include "commands/run/atomic_bus.hpp"
#include "commands/run/course_trace.hpp"
#include "forms/own_forms.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/machine_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/recorded_run.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/error.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCourseMachine = "course_8way";
constexpr int kKibibyte = 1024;
constexpr int kMostAtomicCaches = 64;

fs::path directory_of(const TraceArguments& arguments) {
  if (!arguments.directory.empty()) return arguments.directory;
  return fs::path("out/traces") / fs::path(arguments.files.front()).stem();
}

// Refuses to replace a trace that is not an earlier conversion of these files: the user has named the results, not this file.
void require_conversion(const fs::path& trace, const std::vector<std::string>& files) {
  if (!is_there(trace)) return;
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(fs::path(file).filename().string());
  const auto is_conversion = [&](const trace::Summary& summary) {
    return summary.program == fmt::format("{}", fmt::join(names, " ")) && summary.recorder.starts_with("linebounce import ");
  };
  try {
    if (is_conversion(trace::Reader(trace).summary())) return;
  } catch (const trace::TraceError&) {
    // It is no trace, or a damaged one.
  }
  throw ConfigError(fmt::format("{}: is there already, and the converted trace would replace it; move it, or choose another -o",
                                trace.string()));
}

// The trace in Linebounce's format. Another tool's trace is converted into a file beside the results.
fs::path own_trace(const TraceArguments& arguments) {
  const Excerpt excerpt = excerpt_of(arguments.files.front());
  if (is_own_trace(excerpt)) {
    if (arguments.files.size() > 1)
      throw ConfigError(fmt::format("{}: this trace has all CPUs; further files are for traces with a file for each CPU",
                                    arguments.files.front()));
    if (!arguments.as.empty() && arguments.as != "trace")
      throw ConfigError(
          fmt::format("--as {}: {} is a trace of Linebounce's own, which has one form", arguments.as, arguments.files.front()));
    return arguments.files.front();
  }
  const FormQuestion question{.file = arguments.files.front(),
                              .as = arguments.as,
                              .kinds = {FormKind::trace},
                              .option = "--as",
                              .command = fmt::format("linebounce run {}", shell_word(arguments.files.front()))};
  const ChosenForm chosen = choose_form(question, excerpt);
  const fs::path directory = directory_of(arguments);
  fs::path trace = fs::path(directory).concat(".lbt");
  require_conversion(trace, arguments.files);
  make_parents(directory);
  UnfinishedFile file(trace);
  convert_files(*chosen.form, {arguments.files.begin(), arguments.files.end()}, file.path());
  file.finish();
  return trace;
}

std::string machine_of(const TraceArguments& arguments, const trace::Reader& reader) {
  if (!arguments.overrides.machine.empty()) return arguments.overrides.machine;
  return reader.summary().machine.empty() ? kCourseMachine : reader.summary().machine;
}

int cpus_in(const trace::Reader& reader) {
  const std::vector<int> cpus = cpus_of_streams(reader);
  return cpus.empty() ? 1 : 1 + *std::ranges::max_element(cpus);
}

AtomicCacheSpec caches_of(const TraceArguments& arguments, const MachineSpec& machine) {
  const CacheSpec& outermost = machine.caches.back();
  return {.size_bytes = arguments.cache_bytes.value_or(outermost.size_kib * kKibibyte),
          .ways = arguments.ways.value_or(outermost.ways),
          .line_bytes = arguments.line_bytes.value_or(outermost.line_bytes)};
}

// The same lines are in the same sets as in a replay on a machine with such caches. Errors: ConfigError.
workloads::RecordedMemory memory_of(const trace::Reader& reader, const TraceArguments& arguments, const AtomicCacheSpec& spec) {
  const auto seed = static_cast<std::uint64_t>(arguments.overrides.seed.value_or(kDefaultSeed));
  try {
    return {reader,
            {.seed = workloads::RecordedMemory::frames_seed(seed, 0),
             .index_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(spec.size_bytes / spec.ways - 1)))}};
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(fmt::format("{}: {}", reader.file().string(), refused.what()));
  }
}

ExitCode run_on_atomic_bus(const TraceArguments& arguments, const Protocol& protocol, const trace::Reader& reader) {
  if (!arguments.overrides.sets.empty())
    throw ConfigError(
        fmt::format("--set: {} is for an atomic bus, which has no time; legal with it: --cache-bytes, --ways, "
                    "--line-bytes",
                    protocol.name));
  const MachineFiles machine = read_machine_files(machine_of(arguments, reader), "");
  const AtomicCacheSpec spec = caches_of(arguments, machine.spec);
  const int caches = cpus_in(reader);
  if (caches > kMostAtomicCaches)
    throw ConfigError(
        fmt::format("{}: has {} CPUs; an atomic bus takes at most {}", reader.file().string(), caches, kMostAtomicCaches));
  ClassCounters counters(protocol, caches, spec.line_bytes);
  try {
    AtomicBus bus(protocol, caches, spec, counters);
    const workloads::RecordedMemory memory = memory_of(reader, arguments, spec);
    for_each_access(reader, memory,
                    [&bus](const CourseAccess& access) { bus.access(access.cpu, access.address, access.writes); });
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(fmt::format("the caches: {}", refused.what()));
  } catch (const std::logic_error& fault) {
    std::cerr << "linebounce: " << fault.what() << "; `linebounce check " << protocol.name << "` shows a shortest way there\n";
    return ExitCode::simulation_failed;
  } catch (const ProtocolFault& fault) {
    std::cerr << "linebounce: " << fault.what() << "; `linebounce check " << protocol.name << "` shows a shortest way there\n";
    return ExitCode::simulation_failed;
  }
  CounterArguments shown = arguments.counters;
  shown.counters = true;
  std::cout << counters_text(shown, listing_of(counters));
  const std::string assumption = assumption_about(reader);
  if (!assumption.empty() && shown.listing.empty()) std::cout << "\n" << assumptions_text({assumption}, painter_for_stdout());
  return ExitCode::done;
}

// Adds the command's options as settings to the study. Errors: ConfigError for a cache size on a machine with several levels.
void add_settings(const TraceArguments& arguments, const trace::Reader& reader, ReplayStudy& study) {
  std::vector<std::string>& sets = study.sets;
  study.options = {{"machine.line_bytes", "--line-bytes"}, {"machine.bus.protocol", "--protocol"}};
  if (arguments.line_bytes) sets.push_back(fmt::format("machine.line_bytes={}", *arguments.line_bytes));
  if (arguments.cache_bytes || arguments.ways) {
    const MachineFiles machine = read_machine_files(machine_of(arguments, reader), "");
    if (machine.spec.caches.size() != 1) {
      throw ConfigError(
          fmt::format("--cache-bytes and --ways describe one cache of each CPU, but {} has {} levels; "
                      "set each with --set machine.cache.NAME.size_kib=N, or use --machine {}",
                      machine_of(arguments, reader), machine.spec.caches.size(), kCourseMachine));
    }
    const std::string cache = "machine.cache." + machine.spec.caches.front().name;
    if (arguments.cache_bytes && *arguments.cache_bytes % kKibibyte != 0)
      throw ConfigError(
          fmt::format("--cache-bytes {}: a machine's caches have whole KiB; a protocol of an atomic bus "
                      "takes any size",
                      *arguments.cache_bytes));
    study.options.emplace(cache + ".size_kib", "--cache-bytes");
    study.options.emplace(cache + ".ways", "--ways");
    if (arguments.cache_bytes) sets.push_back(fmt::format("{}.size_kib={}", cache, *arguments.cache_bytes / kKibibyte));
    if (arguments.ways) sets.push_back(fmt::format("{}.ways={}", cache, *arguments.ways));
  }
  if (!arguments.protocol.empty()) sets.push_back("machine.bus.protocol=" + arguments.protocol);
  // Each thread runs on the CPU that its stream names, or else on the CPU with the stream's number.
  sets.push_back(fmt::format("workload.threads=\"{}\"", fmt::join(cpus_of_streams(reader), " ")));
  if (arguments.counters.wanted()) sets.emplace_back("run.counters=true");
  sets.insert(sets.end(), arguments.overrides.sets.begin(), arguments.overrides.sets.end());
  for (const auto& [path, value] : split_sets(arguments.overrides.sets)) study.options.erase(path);
}

ExitCode run_on_machine(const TraceArguments& arguments, const trace::Reader& reader, const std::vector<std::string>& argv) {
  ReplayStudy study{.name = "trace",
                    .title = "Trace " + fs::path(arguments.files.front()).filename().string(),
                    .machine = machine_of(arguments, reader),
                    .trace = reader.file(),
                    .seed = arguments.overrides.seed};
  add_settings(arguments, reader, study);
  const Plan plan = plan_of(study);
  RunOptions options;
  options.directory = directory_of(arguments);
  options.earlier = earlier_results(arguments.fresh);
  options.argv = argv;
  const bool listing_only = !arguments.counters.listing.empty();
  const RunReport report = run_with_progress(plan, options, study.title, !arguments.quiet && !listing_only);
  print_failures(plan, report, options.directory);
  if (!arguments.quiet && !listing_only) print_report(plan, report, options.directory);
  if (arguments.counters.wanted() && !report.results.points.empty()) {
    if (!listing_only) std::cout << "\n";
    std::cout << counters_text(arguments.counters, listing_of(report.results.points.front()));
  }
  return report.code;
}

}  // namespace

void require_listing(const CounterArguments& arguments) {
  if (!arguments.listing.empty()) find_file(kCounterTemplates, arguments.listing, "", "--listing");
}

std::string counters_text(const CounterArguments& arguments, const CounterListing& listing) {
  if (arguments.listing.empty()) return counter_table(listing, painter_for_stdout());
  const fs::path file = find_file(kCounterTemplates, arguments.listing, "", "--listing");
  return filled_in(read_text(file), file.filename().string(), listing);
}

bool is_trace(const std::string& word) {
  std::error_code ignored;
  const fs::path file = word;
  const bool is_own = file.extension() == ".toml" || file.extension() == ".lua" || file.extension() == ".md";
  if (is_own || !fs::is_regular_file(file, ignored)) return false;
  const std::vector<std::string> experiments = file_names(kExperimentFiles);
  // An experiment's name takes precedence over a file of that name.
  if (std::ranges::find(experiments, word) != experiments.end()) return false;
  const Excerpt excerpt = excerpt_of(file);
  if (is_own_trace(excerpt)) return true;
  const Recognised recognised = recognise(excerpt);
  return std::ranges::any_of(recognised.candidates,
                             [](const FormCandidate& candidate) { return candidate.form->kind == FormKind::trace; });
}

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv) {
  require_listing(arguments.counters);
  std::optional<Protocol> protocol;  // loaded first: a wrong name leaves no converted trace
  if (!arguments.protocol.empty()) protocol = load_protocol(arguments.protocol, "--protocol");
  const trace::Reader reader(own_trace(arguments));
  if (protocol && protocol->kind == ProtocolKind::bus && protocol->bus == BusKind::atomic)
    return run_on_atomic_bus(arguments, *protocol, reader);
  return run_on_machine(arguments, reader, argv);
}

}  // namespace linebounce::sim
