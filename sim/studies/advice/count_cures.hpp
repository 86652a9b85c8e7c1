// Cures for a count that many threads change: other counters, each with what the program must not need.
#pragma once

#include <string>
#include <vector>

#include "sim/studies/advice/count_use.hpp"
#include "workloads/replay/count_form.hpp"

namespace linebounce::sim {

struct CountCure {
  std::vector<workloads::CountChoice> choices;  // one for each of several words
  std::string what;                             // "count events per thread, and sum the counts on a read"
  std::string seen;                             // "events is an event counter: 8000 additions, ..."
  std::string only_if;                          // "nobody needs the exact sum after every add"
  std::string sketch;                           // C
  std::string source;                           // where the count is defined: "/src/events.c:12"
};

// The suitable cures for each count, the costliest count first. For several counts there is also one cure of all together,
// because each alone leaves the other counts contended.
std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
