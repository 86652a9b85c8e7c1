// The text of `linebounce lock-report`: two locks on some machines, for a patch's mail.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/studies/validate/validation.hpp"

namespace linebounce::sim {

// What a lock did at one number of CPUs. An empty figure: there was none, such as a hand-off without a waiter.
struct LockFigure {
  std::optional<double> value;
  std::optional<double> ci95 = {};  // half the width of its 95 % interval
};

struct LockMeasured {
  LockFigure acquisitions_per_s, fairness_pct, local_handoff_ns, remote_handoff_ns, lines_moved;
};

struct LockPair {
  int cpus = 0;
  LockMeasured a, b;
};

struct LocksOnMachine {
  std::string name, title;
  std::vector<LockPair> pairs;
  ValidationScore predicted;        // of published figures of this machine, at their first runs
  ValidationScore predicted_locks;  // of these, figures of locks
};

struct LockReport {
  std::string a, b;     // the locks, as the user named them
  std::string load;     // what the CPUs did, and how it was measured
  std::string program;  // "linebounce 1.0 (abc)"
  std::vector<LocksOnMachine> machines;
  ValidationScore predicted;  // of published figures of all machines, at their first runs
};

// Plain ASCII, lines of at most 80 characters.
std::string lock_report_text(const LockReport& report);

}  // namespace linebounce::sim
