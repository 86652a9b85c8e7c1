// `linebounce run TRACE`: runs a trace from a course or another tool, on a machine or on an atomic bus, and prints counters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/common/common_options.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/terminal/counter_listing.hpp"

namespace linebounce::sim {

// Whether and how to print the counters.
struct CounterArguments {
  bool counters = false;
  std::string listing;  // name or file of a template; empty: print a table
  [[nodiscard]] bool wanted() const { return counters || !listing.empty(); }
};

// Prints the counters as the arguments ask. Errors: ConfigError for the template.
// Errors: ConfigError for a --listing that is not known.
void require_listing(const CounterArguments& arguments);

std::string counters_text(const CounterArguments& arguments, const CounterListing& listing);

struct TraceArguments {
  std::vector<std::string> files;
  std::string as;  // the form; empty: recognised
  OverrideArguments overrides;
  std::string protocol;
  std::optional<int> cache_bytes, ways, line_bytes;
  std::string directory;
  CounterArguments counters;
  bool fresh = false, quiet = false;
};

// True if `word` is a trace file, of Linebounce or another tool.
bool is_trace(const std::string& word);

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv);

}  // namespace linebounce::sim
