// Replays a trace on one machine to predict the gain from replacing a count that many threads change by another kind of
// counter.
#pragma once

#include <string>
#include <vector>

#include "commands/advise/count_cures.hpp"
#include "commands/common/common_options.hpp"
#include "sim/replay/orders.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// A cure and what its replays showed.
struct TriedCount {
  CountCure cure;
  OrdersChange change;
  double misses_before = 0, misses_after = 0;  // misses served by another cache, plus upgrades, in the whole run
  bool confirmed = false;                      // true if it also gains in orders that were not used to choose it
};

// `machine` is a name or a path. Results go into a folder with its name in `arguments.directory`. Empty if there is no such
// count or no replay finished; `code` tells which. Errors: ConfigError, TraceError.
std::vector<TriedCount> try_counts(const StudyArguments& arguments, int orders, const std::string& machine,
                                   const TimeAccount& account, const trace::Reader& reader,
                                   const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
