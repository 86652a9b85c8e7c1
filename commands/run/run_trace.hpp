// `linebounce run TRACE`: runs a trace from a course or another tool, on a machine or on an atomic bus, and prints counters.
#pragma once

#include <string>
#include <vector>

#include "commands/course/exercise.hpp"
#include "commands/course/trace_files.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/terminal/counter_listing.hpp"

namespace linebounce::sim {

// Whether and how to print the counters.
struct CounterArguments {
  bool counters = false;
  std::string listing;             // name or file of a template; empty: print a table
  std::vector<std::string> costs;  // formulas
  [[nodiscard]] bool wanted() const { return counters || !listing.empty() || !costs.empty(); }
};

// Whether the run has cycles to count.
enum class HasTime : std::uint8_t { no, yes };

// Refuses before the run what can't be printed after it. Errors: ConfigError for a --listing that is not known, for a --cost
// that cannot be computed, and for counters that such a run has not.
void require_listing(const CounterArguments& arguments, HasTime has_time);

// The counters as the arguments ask. Errors: ConfigError for the template.
std::string counters_text(const CounterArguments& arguments, const CounterListing& listing);

struct TraceArguments : TraceOptions {
  std::string directory;
  CounterArguments counters;
  bool fresh = false, quiet = false;
  int at_once = 0;  // 0: not given
};

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv);

// Counts what the exercise's accesses do, on an atomic bus.
ExitCode run_exercise(const TraceArguments& arguments, const Exercise& exercise);

}  // namespace linebounce::sim
