// Brings CPUs together: the last to come lets all go. Central counter and generation (sense-reversing).
#pragma once

#include <string>

#include "models/core/cpu.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce {

class Barrier {
 public:
  Barrier() = default;
  Barrier(AddressSpace& memory, const std::string& name, int cpus) : cpus_(cpus) {
    const int line = memory.line_bytes();
    const Layout layout{.name = "barrier", .size = 2 * line, .fields = {{"arrived", 0}, {"generation", line}}};
    arrived_ = memory.place(layout, name, line);
    generation_ = arrived_ + static_cast<Address>(line);
  }

  void wait(Cpu& cpu) const {
    const Value generation = cpu.load(generation_);
    const Value before = cpu.fetch_add(arrived_, 1);
    if (before + 1 == static_cast<Value>(cpus_)) {
      cpu.store(arrived_, 0);
      cpu.store_release(generation_, generation + 1);
    } else {
      cpu.spin_until_acquire(generation_, [generation](Value now) { return now != generation; });
    }
  }

 private:
  int cpus_ = 0;
  Address arrived_ = 0;
  Address generation_ = 0;
};

}  // namespace linebounce
