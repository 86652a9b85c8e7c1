// Marks the many calls of one operation, such as acquiring a lock or meeting at a barrier. A recorder notes the operation
// instead of the calls, which a replay's own lock makes anew. Affects only the tap.
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
