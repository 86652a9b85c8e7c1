// Linux' operations on bits of ia64: atomic ones load the word of four bytes that has the bit, then compare and exchange it.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

constexpr int kBitsWordBytes = 4;

// The word with the bit, and the bit in it.
struct BitPlace {
  BitPlace(Address bits, Address bit) : word(bits + bit / 32 * kBitsWordBytes), mask(Value{1} << bit % 32) {}
  Address word;
  Value mask;
};

inline bool test_bit(Cpu& cpu, Address bit, Address bits) {
  const BitPlace place(bits, bit);
  return (cpu.load_acquire(place.word, kBitsWordBytes) & place.mask) != 0;
}

// What the bit was.
inline bool exchange_bit(Cpu& cpu, Address bit, Address bits, bool set) {
  const BitPlace place(bits, bit);
  for (;;) {
    const Value old = cpu.load_acquire(place.word, kBitsWordBytes);
    const Value wanted = set ? old | place.mask : old & ~place.mask;
    if (cpu.compare_exchange(place.word, old, wanted, kBitsWordBytes) == old) return (old & place.mask) != 0;
  }
}
inline bool test_and_set_bit(Cpu& cpu, Address bit, Address bits) {
  return exchange_bit(cpu, bit, bits, true);
}
inline bool test_and_clear_bit(Cpu& cpu, Address bit, Address bits) {
  return exchange_bit(cpu, bit, bits, false);
}
inline void clear_bit(Cpu& cpu, Address bit, Address bits) {
  exchange_bit(cpu, bit, bits, false);
}

// Not atomic: who calls it has a lock for that.
inline bool unlocked_test_and_clear_bit(Cpu& cpu, Address bit, Address bits) {
  const BitPlace place(bits, bit);
  const Value old = cpu.load(place.word, kBitsWordBytes);
  cpu.store(place.word, old & ~place.mask, kBitsWordBytes);
  return (old & place.mask) != 0;
}

}  // namespace linebounce::workloads
