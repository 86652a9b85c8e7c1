// A list of objects that wait for their callbacks, in simulated memory. It has two words, {head, tail}; the first word of each
// object's head points to the next.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class CallbackList {
 public:
  static constexpr int kBytes = 16;

  CallbackList() = default;
  explicit CallbackList(Address at) : head_(at), tail_(at + 8) {}

  [[nodiscard]] bool empty(Cpu& cpu) const { return cpu.load(head_) == 0; }

  void append(Cpu& cpu, Address first, Address last) const {
    const Value head = cpu.load(head_);
    if (head == 0) {
      cpu.store(head_, first);
    } else {
      cpu.store(cpu.load(tail_), first);
    }
    cpu.store(tail_, last);
  }

  // Appends all of this list to `other`. REQUIRES: this list is not empty.
  void move_to(Cpu& cpu, const CallbackList& other) const {
    const Address first = cpu.load(head_);
    const Address last = cpu.load(tail_);
    other.append(cpu, first, last);
    cpu.store(head_, 0);
  }

  // REQUIRES: the list is not empty.
  [[nodiscard]] Address take_first(Cpu& cpu) const {
    const Address first = cpu.load(head_);
    const Address next = cpu.load(first);
    cpu.store(head_, next);
    return first;
  }

 private:
  Address head_ = 0;
  Address tail_ = 0;
};

}  // namespace linebounce::workloads
