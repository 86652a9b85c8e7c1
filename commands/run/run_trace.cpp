#include "commands/run/run_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <utility>

#include "commands/course/atomic_bus.hpp"
#include "commands/course/course_trace.hpp"
#include "commands/course/typed_accesses.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/recorded_run.hpp"
#include "sim/point/config_error.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// out/traces/p0.prg+p1.prg
fs::path directory_of(const TraceArguments& arguments) {
  constexpr std::size_t kLongest = 100;
  if (!arguments.directory.empty()) return arguments.directory;
  std::string name = fs::path(arguments.files.front()).filename().string();
  const std::string first = name;
  for (std::size_t i = 1; i < arguments.files.size(); ++i) name += "+" + fs::path(arguments.files[i]).filename().string();
  if (name.size() > kLongest) name = fmt::format("{}+{}", first, arguments.files.size() - 1);
  return fs::path("out/traces") / name;
}

// Says which options have no effect. Scripts may give them for every protocol alike, so they are no error.
void tell_options_of_machines(const TraceArguments& arguments, const Protocol& protocol) {
  const std::pair<const char*, bool> options[] = {
      {"--output", !arguments.directory.empty()}, {"--fresh", arguments.fresh}, {"--jobs", arguments.at_once > 0}};
  for (const auto& [name, given] : options) {
    if (given)
      std::cerr << fmt::format(
          "linebounce: {} has no effect: {} is for an atomic bus, whose counters are printed and not kept\n", name,
          protocol.name);
  }
}

// Counts the accesses that `feed` hands to the bus, and prints the counters of these CPUs' caches.
template <class Feed>
ExitCode count(const TraceArguments& arguments, const Protocol& protocol, const AtomicCacheSpec& spec,
               const std::set<int>& cpus, Feed feed) {
  const int caches = 1 + *cpus.rbegin();
  ClassCounters counters(protocol, caches, spec.line_bytes, spec.size_bytes / spec.line_bytes);
  const ExitCode code = run_on_bus(protocol, [&] {
    AtomicBus bus(protocol, caches, spec, counters);
    feed(bus);
  });
  if (code != ExitCode::done) return code;
  CounterListing listing = listing_of(counters);
  std::erase_if(listing, [&cpus](const auto& cache) { return !cpus.contains(cache.first); });
  CounterArguments shown = arguments.counters;
  shown.counters = true;
  std::cout << counters_text(shown, listing);
  return ExitCode::done;
}

ExitCode run_on_atomic_bus(const TraceArguments& arguments, const Protocol& protocol, const trace::Reader& reader) {
  refuse_settings(arguments, protocol, SeedOf::frames);
  const AtomicCacheSpec spec = caches_of(arguments, machine_of(arguments, reader));
  std::set<int> cpus;
  for (int cpu = 0; cpu < caches_in(arguments, reader); ++cpu) cpus.insert(cpu);
  const ExitCode code = count(arguments, protocol, spec, cpus, [&](AtomicBus& bus) {
    visit_accesses(arguments, reader, spec,
                   [&bus](const CourseAccess& access) { bus.access(access.cpu, access.address, access.bytes, access.writes); });
  });
  const std::string assumption = assumption_about(reader);
  if (code == ExitCode::done && !assumption.empty() && arguments.counters.listing.empty())
    std::cout << "\n" << assumptions_text({assumption}, painter_for_stdout());
  return code;
}

ExitCode run_on_machine(const TraceArguments& arguments, const trace::Reader& reader, const std::vector<std::string>& argv) {
  const ReplayStudy study = study_of(arguments, reader, arguments.counters.wanted());
  const Plan plan = plan_of(study);
  RunOptions options;
  options.directory = directory_of(arguments);
  options.earlier = earlier_results(arguments.fresh);
  options.set_aside = tell_set_aside;
  if (arguments.at_once > 0) options.at_once = arguments.at_once;
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

std::vector<CostFormula> formulas_of(const CounterArguments& arguments) {
  std::vector<CostFormula> formulas;
  try {
    for (const std::string& text : arguments.costs) formulas.emplace_back(text, "--cost");
  } catch (const std::invalid_argument& wrong) {
    throw ConfigError(wrong.what());
  }
  return formulas;
}

}  // namespace

void require_listing(const CounterArguments& arguments, HasTime has_time) {
  CounterListing empty = {{0, {}}};
  if (has_time == HasTime::yes) empty[0][std::string(kCycleCounters)] = 0;
  counters_text(arguments, empty);
}

std::string counters_text(const CounterArguments& arguments, const CounterListing& listing) {
  const std::vector<CostFormula> costs = formulas_of(arguments);
  if (arguments.listing.empty()) return counter_table(listing, painter_for_stdout(), costs);
  const fs::path file = find_file(kCounterTemplates, arguments.listing, "", "--listing");
  return filled_in(read_text(file), file.filename().string(), listing, costs);
}

ExitCode run_exercise(const TraceArguments& arguments, const Exercise& exercise) {
  const Protocol protocol = protocol_of_accesses(arguments);
  tell_options_of_machines(arguments, protocol);
  refuse_settings(arguments, protocol, SeedOf::nothing);
  require_listing(arguments.counters, HasTime::no);
  const AtomicCacheSpec spec = caches_of(arguments, arguments.overrides.machine);
  const std::vector<NamedAccess> typed = accesses_of(exercise, spec.line_bytes);
  std::set<int> cpus;
  for (const NamedAccess& access : typed) cpus.insert(access.cpu);
  return count(arguments, protocol, spec, cpus, [&typed](AtomicBus& bus) {
    for (const NamedAccess& access : typed) run_access(bus, access);
  });
}

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv) {
  std::optional<Protocol> protocol;  // loaded first: a wrong name leaves no converted trace
  if (!arguments.protocol.empty()) protocol = protocol_of_course(arguments.protocol);
  if (protocol && is_for_atomic_bus(*protocol)) {
    tell_options_of_machines(arguments, *protocol);
    require_listing(arguments.counters, HasTime::no);
    const ConvertedTrace trace(arguments, "run", "");
    return run_on_atomic_bus(arguments, *protocol, trace::Reader(trace.path()));
  }
  require_listing(arguments.counters, HasTime::yes);
  ConvertedTrace trace(arguments, "run", directory_of(arguments));
  const ExitCode code = run_on_machine(arguments, trace::Reader(trace.path()), argv);
  trace.keep();
  return code;
}

}  // namespace linebounce::sim
