// Cures of a count that many threads change: other counters, each with what the program must not need.
#pragma once

#include <string>
#include <vector>

#include "sim/studies/advice/count_use.hpp"
#include "workloads/replay/count_form.hpp"

namespace linebounce::sim {

struct CountCure {
  std::vector<workloads::CountChoice> choices;  // of several words together, one each
  std::string what;                             // "count events per thread, and sum the counts on a read"
  std::string seen;                             // "events is an event counter: 8000 additions, ..."
  std::string only_if;                          // "nobody needs the exact sum after every add"
  std::string sketch;                           // C
  std::string source;                           // of the count: "/src/events.c:12"
};

// Those that suit what each count is for, the costliest count first; of several counts also one cure of all together, for each
// alone leaves the others in the way.
std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
