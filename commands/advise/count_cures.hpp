// Suggests cures for counts that many threads change. Each cure is another kind of counter, with a condition that the program
// must meet.
#pragma once

#include <string>
#include <vector>

#include "commands/advise/count_use.hpp"
#include "workloads/replay/count_form.hpp"

namespace linebounce::sim {

struct CountCure {
  std::vector<workloads::CountChoice> choices;  // one per count that the cure changes
  std::string what;                             // "count events per thread, and sum the counts on a read"
  std::string seen;                             // "events is an event counter: 8000 additions, ..."
  std::string only_if;                          // "nobody needs the exact sum after every add"
  std::string sketch;                           // C
  std::string source;                           // where the count is defined: "/src/events.c:12"
};

// Returns the suitable cures for each costly count; those of the costliest come first. If there are several counts, also ones
// that cost nothing because they lie on a costly one's line, one more cure changes all of them: a cure of one leaves the others
// contended.
std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
