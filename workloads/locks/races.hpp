// Finds critical sections that overlapped in simulated time under a lock that excludes nobody. The host does not run the
// programs in the order of simulated time, so Sections stores all sections and compares them when the run is over.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

// The first time in the measured time at which two sections overlapped that should exclude each other.
struct Race {
  Tick at = 0;
  CpuId first_cpu, second_cpu;  // second_cpu entered while first_cpu was inside
  FunctionId first_call_site = 0, second_call_site = 0;
};

struct Races {
  std::int64_t sections = 0;  // number of sections that began in the measured time and overlapped another CPU's
  std::optional<Race> first;

  void add(const Races& other);
};

class Sections {
 public:
  // Adds a section that began at `since` and ended at `until` (exclusive). `shared`: a reader's section; readers do not exclude
  // each other.
  void add(const Cpu& cpu, FunctionId call_site, Tick since, Tick until, bool shared) {
    sections_.push_back({since, until, cpu.id(), call_site, shared, cpu.measures(since), false});
  }
  // Call once. REQUIRES: all sections have been added.
  Races find_races();

 private:
  struct Section {
    Tick since, until;
    CpuId cpu;
    FunctionId call_site;
    bool shared;
    bool measured;
    bool raced;
  };
  static bool excludes(const Section& a, const Section& b) { return a.cpu.value != b.cpu.value && (!a.shared || !b.shared); }

  std::vector<Section> sections_;
};

}  // namespace linebounce::workloads
