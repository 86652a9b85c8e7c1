// What each memory order of a lock is needed for: the weakest ones under which every check still holds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/machine_spec.hpp"
#include "sim/interleavings/lock_search.hpp"
#include "sim/lock_checker/ordered_places.hpp"

namespace linebounce::sim {

struct WeakenOptions {
  std::vector<Consistency> consistencies;
  std::vector<std::string> machines;  // on which weaker orders are timed
  SearchLimits limits;                // for each case
  std::function<void(double)> progress = [](double) {};
};

// What the orders of one memory model could be.
struct WeakenedModel {
  Consistency consistency = Consistency::sc;
  std::string broken;         // how the lock breaks as it is; empty: it holds
  bool is_proved = true;      // whether the lock as it is was searched completely
  std::vector<int> weakest;   // by place: the last of OrderedPlace::orders with which the lock holds, all others unchanged
  std::vector<int> together;  // by place: the same, for all places at once
  std::vector<std::pair<int, int>> conflicts;  // pairs of places that break if both have their weakest order
};

struct WeakenedOnMachine {
  std::string machine;
  Consistency consistency = Consistency::sc;
  std::vector<double> gain_pct;  // by place: more throughput with its weakest order of that model
  double together_pct = 0;
};

struct Weakening {
  std::vector<WeakenedModel> models;
  std::vector<WeakenedOnMachine> machines;  // those whose memory model is in `models`
};

// Errors: as for ordered_lock(), and ConfigError for an unknown machine. REQUIRES: the lock's file has an absolute path.
Weakening weaken(const OrderedLock& lock, const WeakenOptions& options);

}  // namespace linebounce::sim
