// Which changes `linebounce advise` advises: what its two studies found, on one machine and by one recording, put together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/commands/count_finder.hpp"
#include "sim/studies/compare_locks/lock_comparison.hpp"
#include "sim/terminal/advice_page.hpp"
#include "sim/terminal/sharing_report.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// What both studies have found on one machine.
struct MachineAdvice {
  SharingReport sharing;
  std::optional<LockComparison> locks = {};  // none: the program takes no lock, or no replay has finished
  bool has_locks = false;
  std::optional<TimeAccount> time = {};
  std::vector<TriedCount> counts = {};
};

// `words`: that behave like locks and were taken for locks; `missing`: what the trace could not hold. Reads the source files
// that the trace names.
AdvicePage advice_page(const trace::Reader& trace, const std::vector<MachineAdvice>& machines,
                       const std::vector<trace::WordLock>& words, const std::vector<std::string>& missing);

// Makes one page of those of several recordings of a program. A change stays if more than half of them advise it. Of its gains
// the median is that of theirs, and the interval holds all of theirs. REQUIRES: the pages are of the same machines.
void join_recordings(AdvicePage& page, const std::vector<AdvicePage>& others);

}  // namespace linebounce::sim
