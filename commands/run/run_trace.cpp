#include "commands/run/run_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

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

fs::path directory_of(const TraceArguments& arguments) {
  if (!arguments.directory.empty()) return arguments.directory;
  return fs::path("out/traces") / fs::path(arguments.files.front()).stem();
}

// Counts the accesses that `feed` hands to the bus, and prints the counters.
template <class Feed>
ExitCode count(const TraceArguments& arguments, const Protocol& protocol, const AtomicCacheSpec& spec, int caches, Feed feed) {
  ClassCounters counters(protocol, caches, spec.line_bytes, spec.size_bytes / spec.line_bytes);
  const ExitCode code = run_on_bus(protocol, [&] {
    AtomicBus bus(protocol, caches, spec, counters);
    feed(bus);
  });
  if (code != ExitCode::done) return code;
  CounterArguments shown = arguments.counters;
  shown.counters = true;
  std::cout << counters_text(shown, listing_of(counters));
  return ExitCode::done;
}

ExitCode run_on_atomic_bus(const TraceArguments& arguments, const Protocol& protocol, const trace::Reader& reader) {
  refuse_settings(arguments, protocol);
  const AtomicCacheSpec spec = caches_of(arguments, machine_of(arguments, reader));
  const ExitCode code = count(arguments, protocol, spec, caches_in(reader), [&](AtomicBus& bus) {
    const workloads::RecordedMemory memory = memory_of(reader, arguments, spec);
    for_each_access(reader, memory, spec.line_bytes, [&bus](const CourseAccess& access) {
      bus.access(access.cpu, access.address, access.bytes, access.writes);
    });
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
  try {
    return {arguments.costs.begin(), arguments.costs.end()};
  } catch (const std::invalid_argument& wrong) {
    throw ConfigError(fmt::format("--cost: {}", wrong.what()));
  }
}

}  // namespace

void require_listing(const CounterArguments& arguments) {
  formulas_of(arguments);
  if (!arguments.listing.empty()) find_file(kCounterTemplates, arguments.listing, "", "--listing");
}

std::string counters_text(const CounterArguments& arguments, const CounterListing& listing) {
  const std::vector<CostFormula> costs = formulas_of(arguments);
  if (arguments.listing.empty()) return counter_table(listing, painter_for_stdout(), costs);
  const fs::path file = find_file(kCounterTemplates, arguments.listing, "", "--listing");
  return filled_in(read_text(file), file.filename().string(), listing, costs);
}

ExitCode run_accesses(const TraceArguments& arguments, const std::string& accesses) {
  require_listing(arguments.counters);
  const Protocol protocol = protocol_of_accesses(arguments);
  refuse_settings(arguments, protocol);
  const AtomicCacheSpec spec = caches_of(arguments, arguments.overrides.machine);
  const std::vector<NamedAccess> typed = typed_accesses(accesses, spec.line_bytes);
  const int caches = 1 + std::ranges::max_element(typed, {}, &NamedAccess::cpu)->cpu;
  return count(arguments, protocol, spec, caches, [&typed](AtomicBus& bus) {
    for (const NamedAccess& access : typed) run_access(bus, access);
  });
}

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv) {
  require_listing(arguments.counters);
  std::optional<Protocol> protocol;  // loaded first: a wrong name leaves no converted trace
  if (!arguments.protocol.empty()) protocol = protocol_of_course(arguments.protocol);
  const ConvertedTrace trace(arguments, "run", fs::path(directory_of(arguments)).concat(".lbt"));
  const trace::Reader reader(trace.path());
  if (protocol && is_for_atomic_bus(*protocol)) return run_on_atomic_bus(arguments, *protocol, reader);
  return run_on_machine(arguments, reader, argv);
}

}  // namespace linebounce::sim
