// Cures of a count that many threads change: other counters, each with what the program must not need.
#pragma once

#include <string>
#include <vector>

#include "sim/studies/advice/time_account.hpp"
#include "workloads/replay/count_form.hpp"

namespace linebounce::sim {

struct CountCure {
  std::vector<workloads::CountChoice> choices;  // of several words together, one each
  std::string what;                             // "count events per thread, and sum the counts on a read"
  std::string only_if;                          // "nobody uses the value that an add returns"
  std::string sketch;                           // C
  std::string source;                           // of the count: "/src/events.c:12"
};

// For words that take at least one percent of the threads' time and are mostly changed by atomic additions, the costliest word
// first; of several words also one cure of all together, for each alone leaves the others in the way. None for words that
// somebody spins on.
std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Symbols& symbols);

}  // namespace linebounce::sim
