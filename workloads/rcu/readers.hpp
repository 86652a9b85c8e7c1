// Tracks which CPUs read, and since when, outside simulated memory and without simulated time. Detects that a freed object is
// still in use by a reader.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "models/core/cpu.hpp"
#include "models/failure.hpp"

namespace linebounce::workloads {

class RcuReaders {
 public:
  explicit RcuReaders(int cpus) : readers_(cpus) {}

  void enter(const Cpu& cpu) {
    Reader& reader = readers_[index(cpu)];
    if (reader.depth++ == 0) reader.since = cpu.local_time();
  }
  void leave(const Cpu& cpu) {
    if (readers_[index(cpu)].depth-- == 0)
      throw ModelFailure(fmt::format("rcu: CPU {} leaves a reader's section that it is not in", cpu.id().value));
  }
  [[nodiscard]] bool reads(const Cpu& cpu) const { return readers_[index(cpu)].depth > 0; }

  void refuse_inside(const Cpu& cpu, const char* what) const {
    if (reads(cpu)) throw ModelFailure(fmt::format("rcu: {} inside read_lock() on CPU {}", what, cpu.id().value));
  }

  // Called when a grace period for an object removed at `removed` is over: no reader that began before may be left. The host
  // has already run the other CPUs' programs at least to their quiescent states, because the control block's lock orders those
  // before this call.
  void check_gone(Tick removed) const {
    for (std::size_t cpu = 0; cpu < readers_.size(); ++cpu) {
      const Reader& reader = readers_[cpu];
      if (reader.depth > 0 && reader.since < removed)
        throw ModelFailure(
            fmt::format("rcu: a grace period is over while CPU {} still reads since tick {}, before the removal "
                        "at tick {}",
                        cpu, reader.since, removed));
    }
  }

 private:
  struct Reader {
    int depth = 0;
    Tick since = 0;
  };
  static std::size_t index(const Cpu& cpu) { return cpu.id().value; }
  std::vector<Reader> readers_;  // by CPU
};

}  // namespace linebounce::workloads
