// The reader-writer lock of Linux 2.4 and 2.6 on i386, on one word of four bytes that begins at the bias: a reader takes 1 and
// a writer the whole bias. What is left says who was there. Who finds too little gives back what he took and watches the word.
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

class BiasedCounter {
 public:
  static constexpr int kBytes = 4;

  BiasedCounter(AddressSpace& memory, Address word) : word_(word) { memory.preset(word, kBias, kBytes); }

  // Whether it was free at the first attempt; after false comes wait_...(), which returns with the lock.
  [[nodiscard]] bool read_at_once(Cpu& cpu) const { return reads(take(cpu, 1)); }
  [[nodiscard]] bool write_at_once(Cpu& cpu) const { return take(cpu, kBias) == kBias; }

  void wait_to_read(Cpu& cpu) const {
    do {
      give(cpu, 1);
      cpu.spin_until(word_, reads, kBytes);
    } while (!read_at_once(cpu));
  }
  void wait_to_write(Cpu& cpu) const {
    do {
      give(cpu, kBias);
      cpu.spin_until(
          word_, [](Value count) { return count == kBias; }, kBytes);
    } while (!write_at_once(cpu));
  }

  void end_read(Cpu& cpu) const { give(cpu, 1); }
  void end_write(Cpu& cpu) const { give(cpu, kBias); }  // or gives back what write_at_once() took in vain

 private:
  static constexpr Value kBias = 0x01000000;                               // more than there are readers
  static bool reads(Value count) { return count >= 1 && count <= kBias; }  // else it is 0, or negative in 4 bytes

  // What was there before.
  Value take(Cpu& cpu, Value amount) const { return cpu.fetch_add(word_, (Value{1} << 32) - amount, kBytes); }
  void give(Cpu& cpu, Value amount) const { cpu.fetch_add(word_, amount, kBytes); }

  Address word_;
};

}  // namespace linebounce::workloads
