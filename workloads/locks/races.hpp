// Sections of a lock that keeps nobody out: which of them overlapped in simulated time. Programs run in an order of the host's,
// so sections are kept, and looked at when the run is over.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

// The first moment of the measured time at which two sections that should exclude each other both ran.
struct Race {
  Tick at = 0;
  CpuId first_cpu, second_cpu;  // the second one came while the first was inside
  FunctionId first_call_site = 0, second_call_site = 0;
};

struct Races {
  std::int64_t sections = 0;  // that began in the measured time and overlapped another CPU's
  std::optional<Race> first;

  void add(const Races& other);
};

class Sections {
 public:
  // [since, until); readers do not exclude each other.
  void add(const Cpu& cpu, FunctionId call_site, Tick since, Tick until, bool shared) {
    sections_.push_back({since, until, cpu.id(), call_site, shared, cpu.measures(since), false});
  }
  // Sorts them: called once, at the end.
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
