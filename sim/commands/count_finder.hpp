// Replays a trace on one machine to predict the gain of replacing a count that many threads change by another kind of
// counter.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/common_options.hpp"
#include "sim/studies/advice/count_cures.hpp"
#include "sim/studies/replay/orders.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// A cure, and the results of its replays.
struct TriedCount {
  CountCure cure;
  OrdersChange change;
  double misses_before = 0, misses_after = 0;  // misses served by another cache, and upgrades, in the whole run
  bool confirmed = false;                      // true if it also gains in orders that were not used to choose it
};

// Results go below `arguments.directory`, in a folder with the machine's name. Empty if there is no such count or no replay has
// finished; `code` says which. Errors: ConfigError, TraceError.
std::vector<TriedCount> try_counts(const StudyArguments& arguments, int orders, const TimeAccount& account,
                                   const trace::Reader& reader, const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
