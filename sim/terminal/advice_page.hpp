// What `linebounce advise` says: the changes worth making, the best first, and what that rests on.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/studies/compare_locks/lock_comparison.hpp"
#include "sim/terminal/sharing_report.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// What both studies have found on one machine.
struct MachineAdvice {
  SharingReport sharing;
  std::optional<LockComparison> locks = {};  // none: the program takes no lock, or no replay has finished
  bool has_locks = false;
};

// What a change would gain on one machine.
struct PredictedGain {
  std::string machine;
  OrdersChange change;
  bool confirmed = false;  // a gain in orders that had no part in its choice, too
};

struct AdvisedChange {
  std::string what;                  // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string edit;                  // C, or a sentence
  std::vector<PredictedGain> gains;  // on each machine where it was tried
  std::vector<std::string> not_tried_on = {};
};

struct AdvicePage {
  std::string trace;
  std::vector<std::string> machines;
  std::vector<AdvisedChange> changes;  // confirmed on a machine at least, and a loss on none; the largest gain first
  std::vector<AdvisedChange> depends;  // confirmed on one machine, but a loss on another
  std::vector<std::string> not_tried;  // why there may be more
  std::vector<std::string> missing;    // what the trace could not hold
};

// `words`: that behave like locks and were taken for locks. `missing`: what the trace could not hold.
AdvicePage advice_page(const std::string& trace, const std::vector<MachineAdvice>& machines,
                       const std::vector<trace::WordLock>& words, const std::vector<std::string>& missing);

// Three changes at most. The first line is the verdict.
std::string advice_page_text(const AdvicePage& page, const Painter& paint);

// Schema linebounce.advise/1. All changes.
nlohmann::ordered_json advice_page_json(const AdvicePage& page);

}  // namespace linebounce::sim
