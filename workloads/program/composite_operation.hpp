// What a program does as one thing, though it takes many calls of its thread: taking a lock, meeting at a barrier, sleeping.
// Who records the program notes the one thing; a replay's own lock makes calls of its own. Touches only the tap.
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
