// Chooses what `linebounce advise` recommends, from the results of its two studies on each machine for one recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/advise/advice_page.hpp"
#include "commands/advise/count_finder.hpp"
#include "commands/advise/sharing_report.hpp"
#include "commands/compare_locks/lock_comparison.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// The results of both studies on one machine.
struct MachineAdvice {
  std::string given;  // as in --machine: a name or a path
  SharingReport sharing;
  std::optional<LockComparison> locks = {};  // none if the program takes no lock, or no replay finished
  bool has_locks = false;
  std::optional<TimeAccount> time = {};
  std::vector<TriedCount> counts = {};
};

// Says how many transfers of lines the machine has after the change `what`, of how many before it, and names the costliest
// cause that remains. There may be more: members on lines of their own no longer move together.
std::string remains_text(double before, double after, const MachineAdvice& machine, const std::string& what);

// `words`: words that behaved like locks and were replayed as locks. `missing`: what the trace does not contain. Reads the
// source files that the trace names.
AdvicePage advice_page(const trace::Reader& trace, const std::vector<MachineAdvice>& machines,
                       const std::vector<trace::WordLock>& words, const std::vector<std::string>& missing);

// Merges the pages of several recordings of one program into `page`. Keeps changes that more than half of the recordings
// recommend. A change's gain becomes the median of its gains, and its interval covers all of theirs. REQUIRES: all pages are
// about the same machines.
void join_recordings(AdvicePage& page, const std::vector<AdvicePage>& others);

}  // namespace linebounce::sim
