// A central sense-reversing barrier: a counter, and a generation that the last CPU to arrive increments.
#pragma once

#include <optional>
#include <string>

#include "workloads/program/address_space.hpp"
#include "workloads/program/composite_operation.hpp"

namespace linebounce::workloads {

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
    const CompositeOperation barrier(cpu, {.what = Composite::What::barrier, .barrier = arrived_, .parties = cpus_});
    const std::optional<Value> generation = arrive(cpu);
    if (generation) cpu.spin_until_acquire(generation_, [&generation](Value now) { return now != *generation; });
  }

  // A CPU that polls instead of calling wait() calls arrive(). The barrier is open when generation_word() no longer has the
  // value that arrive() returned. The last CPU to arrive opens the barrier, and gets no value.
  [[nodiscard]] Address generation_word() const { return generation_; }
  std::optional<Value> arrive(Cpu& cpu) const {
    const Value generation = cpu.load(generation_);
    const Value before = cpu.fetch_add(arrived_, 1);
    if (before + 1 < static_cast<Value>(cpus_)) return generation;
    cpu.store(arrived_, 0);
    cpu.store_release(generation_, generation + 1);
    return std::nullopt;
  }

 private:
  int cpus_ = 0;
  Address arrived_ = 0;
  Address generation_ = 0;
};

}  // namespace linebounce::workloads
