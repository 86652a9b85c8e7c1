// What other counters in the place of a count that many threads change would gain on one machine: by replaying them.
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
  double misses_before = 0, misses_after = 0;  // lines that went from one cache to another or were upgraded, in the whole run
  bool confirmed = false;                      // a gain in orders that had no part in its choice, too
};

// Below `arguments.directory`, in a folder of the machine's name. Empty: there is no such count, or no replay has finished;
// `code` says so. Errors: ConfigError, TraceError.
std::vector<TriedCount> try_counts(const StudyArguments& arguments, int orders, const TimeAccount& account,
                                   const trace::Reader& reader, const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
