// Marks the calls of Cpu that make up one operation, such as acquiring a lock or meeting at a barrier. A trace recorder (the
// CPU's tap) writes the operation instead of the calls, and a replay's own lock or barrier makes the calls anew.
#pragma once

#include "models/core/cpu.hpp"
#include "models/core/program_tap.hpp"

namespace linebounce::workloads {

class CompositeOperation {
 public:
  CompositeOperation(Cpu& cpu, const Composite& composite) : cpu_(cpu) {
    if (cpu.tap() != nullptr) cpu.tap()->composite_begins(cpu, composite);
  }
  ~CompositeOperation() {
    if (cpu_.tap() != nullptr) cpu_.tap()->composite_ends(cpu_, failed_);
  }
  CompositeOperation(const CompositeOperation&) = delete;
  CompositeOperation& operator=(const CompositeOperation&) = delete;

  void set_failed() { failed_ = true; }

 private:
  Cpu& cpu_;
  bool failed_ = false;
};

}  // namespace linebounce::workloads
