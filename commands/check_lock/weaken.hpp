// Finds out which memory orders a lock needs: the weakest ones under which every check still holds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "commands/check_lock/ordered_places.hpp"
#include "models/machine_spec.hpp"
#include "sim/interleavings/lock_search.hpp"

namespace linebounce::sim {

struct WeakenOptions {
  std::vector<workloads::MemoryModel> models;
  std::vector<std::string> machines;  // machines on which weaker orders are timed
  SearchLimits limits;                // for each case
  std::function<void(double)> progress = [](double) {};
};

// The weakest orders under one memory model.
struct WeakenedModel {
  workloads::MemoryModel model = workloads::MemoryModel::sc;
  std::string broken;         // how the unchanged lock breaks; empty: it holds
  bool is_proved = true;      // whether the unchanged lock was searched completely
  std::vector<int> weakest;   // by place: index of the weakest order that holds while all other places are unchanged
  std::vector<int> together;  // by place: index of its order when all places are weakened at once
  std::vector<std::pair<int, int>> conflicts;  // pairs of places that break if both have their weakest order
};

struct WeakenedOnMachine {
  std::string machine;
  Consistency consistency = Consistency::sc;
  std::vector<double> gain_pct;  // by place: gain in throughput with its weakest order
  double together_pct = 0;
};

struct Weakening {
  std::vector<WeakenedModel> models;
  std::vector<WeakenedOnMachine> machines;  // machines whose memory model is in `models`
};

// Errors: as for ordered_lock(), and ConfigError for an unknown machine. REQUIRES: the lock's file has an absolute path.
Weakening weaken(const OrderedLock& lock, const WeakenOptions& options);

}  // namespace linebounce::sim
