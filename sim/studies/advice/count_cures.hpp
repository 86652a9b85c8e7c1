// Cures for a count that many threads change: other counters, each with the condition that the program must meet.
#pragma once

#include <string>
#include <vector>

#include "sim/studies/advice/count_use.hpp"
#include "workloads/replay/count_form.hpp"

namespace linebounce::sim {

struct CountCure {
  std::vector<workloads::CountChoice> choices;  // one for each count, if there are several
  std::string what;                             // "count events per thread, and sum the counts on a read"
  std::string seen;                             // "events is an event counter: 8000 additions, ..."
  std::string only_if;                          // "nobody needs the exact sum after every add"
  std::string sketch;                           // C
  std::string source;                           // where the count is defined: "/src/events.c:12"
};

// The suitable cures for each count, the costliest count first. If there are several counts, one more cure changes all of
// them, because changing one leaves the others contended.
std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
