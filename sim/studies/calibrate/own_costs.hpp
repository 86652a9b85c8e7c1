// What linebounce-probe measures beside the matrix, put into a machine: the clock, the caches and what they take, memory,
// atomic operations, bandwidth; and, of what nothing was fitted to, the prediction beside the measurement.
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

// In this order: set_directly, then the matrix is fitted with what `determined` leaves, then fit_ways, then predict.
class OwnCosts {
 public:
  // `source` is what [sources] says of what is set here. Both outlive this.
  OwnCosts(const ProbeFile& probe, MachineTables& machine, std::string source);

  // What the simulator has as it was measured: the clock, sizes of caches, private caches' latencies, atomic operations,
  // bandwidth. The number of a machine's private caches, and its protocol, stay if `keep_structure`. Then the shared cache's
  // whole way, as far as that is a matter of the bus's clocks.
  void set_directly(bool keep_structure);

  // The shared cache's and memory's own latency, so that the whole way is what was measured.
  void fit_ways();

  // `cpu_of` is each CPU of the machine's number in the matrix.
  void predict(const std::vector<int>& cpu_of);

  [[nodiscard]] const std::set<std::string>& determined() const { return machine_.determined(); }  // full paths
  [[nodiscard]] std::vector<ChangedNumber> changed() const { return machine_.changed(); }
  [[nodiscard]] const std::vector<ComparedCost>& fitted() const { return fitted_; }
  [[nodiscard]] const std::vector<ComparedCost>& predictions() const { return predictions_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }  // what has no place in the machine

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
