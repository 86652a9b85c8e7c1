// `linebounce run TRACE`: a trace of a course or of another tool, on a machine or on an atomic bus, and its counters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/commands/common_options.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/terminal/counter_listing.hpp"

namespace linebounce::sim {

// How the counters are printed, if they are.
struct CounterArguments {
  bool counters = false;
  std::string listing;  // a template's name or file; empty: as a table
  [[nodiscard]] bool wanted() const { return counters || !listing.empty(); }
};

// The counters as the arguments want them. Errors: ConfigError for the template.
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

// Whether `word` is a file with a trace, Linebounce's own or another tool's.
bool is_trace(const std::string& word);

ExitCode run_trace(const TraceArguments& arguments, const std::vector<std::string>& argv);

}  // namespace linebounce::sim
