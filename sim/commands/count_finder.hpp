// Predicts, by replays on one machine, what other counters would gain in place of a count that many threads change.
#pragma once

#include <string>
#include <vector>

#include "sim/commands/common_options.hpp"
#include "sim/studies/advice/count_cures.hpp"
#include "sim/studies/replay/orders.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// A cure that has been replayed.
struct TriedCount {
  CountCure cure;
  OrdersChange change;
  double misses_before = 0, misses_after = 0;  // misses served by another cache, and upgrades, in the whole run
  bool confirmed = false;                      // whether it also gains in orders that had no part in its choice
};

// Results go below `arguments.directory`, in a folder with the machine's name. Empty if there is no such count or no replay has
// finished; `code` says which. Errors: ConfigError, TraceError.
std::vector<TriedCount> try_counts(const StudyArguments& arguments, int orders, const TimeAccount& account,
                                   const trace::Reader& reader, const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
