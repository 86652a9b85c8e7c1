// Puts linebounce-probe's measurements other than the matrix into a machine: the clock, the caches with their latencies,
// memory, atomic operations, bandwidth. For measurements that nothing was fitted to, it shows the prediction beside them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/studies/calibrate/fitted_tables.hpp"
#include "sim/studies/calibrate/probe_file.hpp"

namespace linebounce::sim {

// A measured cost beside the simulated one.
struct ComparedCost {
  std::string what;  // "L3, 1536 KiB"
  std::string unit = "ns";
  Quartiles measured;
  double simulated = 0;
};

// REQUIRES this order: set_directly(); the matrix's fit, of everything that `determined` leaves; fit_ways(); predict().
class OwnCosts {
 public:
  // `source`: the text of [sources] for values that are set here. REQUIRES: `probe` and `machine` outlive this object.
  OwnCosts(const ProbeFile& probe, MachineTables& machine, std::string source);

  // Sets what the simulator has in the measured form: the clock, sizes of caches, private caches' latencies, atomic operations,
  // bandwidth. With `keep_structure`, the number of private caches and the protocol stay. Then fits the shared cache's whole
  // way as far as the bus's clocks determine it.
  void set_directly(bool keep_structure);

  // Fits the own latencies of the shared cache and of memory, so that the whole way is as measured.
  void fit_ways();

  // `cpu_of`: indexed by the machine's CPU; its number in the matrix.
  void predict(const std::vector<int>& cpu_of);

  [[nodiscard]] const std::set<std::string>& determined() const { return machine_.determined(); }  // full paths
  [[nodiscard]] std::vector<ChangedNumber> changed() const { return machine_.changed(); }
  [[nodiscard]] const std::vector<ComparedCost>& fitted() const { return fitted_; }
  [[nodiscard]] const std::vector<ComparedCost>& predictions() const { return predictions_; }
  // measurements that have no place in the machine
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void set_cache_size(const std::string& table, const ProbedCache& cache);
  void set_caches(bool keep_structure);
  void reshape_caches(std::size_t levels);
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
