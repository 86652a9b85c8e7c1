// The text of `linebounce lock-report`: compares two locks on some machines, for the mail that submits a patch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evidence/validation.hpp"

namespace linebounce::sim {

// A figure that was measured at one number of CPUs. Empty if nothing was measured, such as a hand-off when nobody waited.
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

// The same locks and load on a machine with another contention family.
struct LocksOfFamily {
  std::string family;
  std::vector<LockPair> pairs;
};

struct LocksOnMachine {
  std::string name, title;
  std::string os_nodes;  // the nodes that locks see, in words
  std::vector<LockPair> pairs;
  std::string family_source;            // where the machine's contention family is from; empty: it need not be doubted
  std::vector<LocksOfFamily> families;  // if its family was assumed: all that it could be, its own among them
  ValidationScore predicted;        // score of the published figures of this machine that are predicted, each at its first run
  ValidationScore predicted_locks;  // the same for figures of locks
};

struct LockReport {
  std::string a, b;     // the two locks, as the user named them
  std::string load;     // the workload and how it was measured, in words
  std::string program;  // "linebounce 1.0 (abc)"
  std::vector<LocksOnMachine> machines;
  ValidationScore predicted;  // as LocksOnMachine::predicted, over all machines
};

// Plain ASCII, lines of at most 80 characters.
std::string lock_report_text(const LockReport& report);

}  // namespace linebounce::sim
