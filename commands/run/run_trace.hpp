// `linebounce run TRACE`: runs a trace from a course or another tool, on a machine or on an atomic bus, and prints counters.
#pragma once

#include <string>
#include <vector>

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

// Errors: ConfigError for a --listing that is not known, and for a --cost that cannot be read.
void require_listing(const CounterArguments& arguments);

// The counters as the arguments ask. Errors: ConfigError for the template.
std::string counters_text(const CounterArguments& arguments, const CounterListing& listing);

struct TraceArguments : TraceOptions {
  std::string directory;
  CounterArguments counters;
  bool fresh = false, quiet = false;
};

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv);

// Counts what the typed accesses do, on an atomic bus.
ExitCode run_accesses(const TraceArguments& arguments, const std::string& accesses);

}  // namespace linebounce::sim
