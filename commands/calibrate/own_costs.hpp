// Puts into a machine what linebounce-probe measured besides the matrix: the clock, the caches and their latencies, memory,
// atomic operations, bandwidth. Predicts each measurement to which nothing was fitted.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "commands/calibrate/fitted_tables.hpp"
#include "commands/calibrate/probe_file.hpp"

namespace linebounce::sim {

// A measured cost and the simulated one.
struct ComparedCost {
  std::string what;  // "L3, 1536 KiB"
  std::string unit = "ns";
  Quartiles measured;
  double simulated = 0;
};

// REQUIRES: calls in this order: set_directly(); the fit to the matrix, which may change all parameters that `determined`
// does not list; fit_ways(); predict().
class OwnCosts {
 public:
  // `source`: the text for [sources] of values that are set here. REQUIRES: `probe` and `machine` outlive this object.
  OwnCosts(const ProbeFile& probe, MachineTables& machine, std::string source);

  // Sets the parameters that were measured directly: the clock, sizes of caches, latencies of private caches, atomic
  // operations, bandwidth. `keep_structure`: keep the number of private caches and the protocol. Then removes bus clocks if,
  // with them, a load from the shared cache would take too long even at a cache latency of 0.
  void set_directly(bool keep_structure);

  // Fits the latencies of the shared cache and of memory, so that loads from them take as long as measured, including the
  // bus.
  void fit_ways();

  // `cpu_of`: by the machine's CPU, its number in the matrix.
  void predict(const std::vector<int>& cpu_of);

  [[nodiscard]] const std::set<std::string>& determined() const { return machine_.determined(); }  // full paths
  [[nodiscard]] std::vector<ChangedNumber> changed() const { return machine_.changed(); }
  [[nodiscard]] const std::vector<ComparedCost>& fitted() const { return fitted_; }
  [[nodiscard]] const std::vector<ComparedCost>& predictions() const { return predictions_; }
  // Sentences on measurements that the machine cannot represent.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void set_caches(bool keep_structure);
  void choose_protocol();
  void set_operations();
  void set_bandwidth();
  [[nodiscard]] const ProbedRing* ring_of(const ProbedCache& cache) const;
  [[nodiscard]] Quartiles memory_cost(bool local) const;
  [[nodiscard]] double shared_cache_ns() const;
  [[nodiscard]] double memory_ns(bool local) const;
  void lower_bus_clocks();
  void fit_way(const std::string& path, double measured, const std::function<double()>& simulated);
  void predict_memory();
  void predict_hand_offs(const std::vector<int>& cpu_of);
  void predict_lock();

  const ProbeFile& probe_;
  FittedTables machine_;
  const ProbedCache* shared_ = nullptr;  // the cache behind the bus
  std::vector<ComparedCost> fitted_, predictions_;
  std::vector<std::string> notes_;
};

}  // namespace linebounce::sim
