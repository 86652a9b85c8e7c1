// The kernel's doubly linked lists in simulated memory: a head or entry is two pointers of so many bytes, next and prev; an
// empty list's head and an entry in no list point to themselves.
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

template <int kBytes>
struct List {
  static constexpr int kPointerBytes = kBytes;

  static Address next(Cpu& cpu, Address entry) { return cpu.load(entry, kPointerBytes); }
  static Address previous(Cpu& cpu, Address entry) { return cpu.load(entry + kPointerBytes, kPointerBytes); }
  static void set_next(Cpu& cpu, Address entry, Address next) { cpu.store(entry, next, kPointerBytes); }
  static void set_previous(Cpu& cpu, Address entry, Address previous) {
    cpu.store(entry + kPointerBytes, previous, kPointerBytes);
  }

  // Empty before the simulation begins.
  static void preset_empty(AddressSpace& memory, Address head) {
    memory.preset(head, head, kPointerBytes);
    memory.preset(head + kPointerBytes, head, kPointerBytes);
  }

  static void initialise(Cpu& cpu, Address entry) {
    set_next(cpu, entry, entry);
    set_previous(cpu, entry, entry);
  }

  static bool empty(Cpu& cpu, Address head) { return next(cpu, head) == head; }

  // Who walks the list without its lock sees the entry whole: its pointers are there before the way to it is.
  static void insert(Cpu& cpu, Address entry, Address before, Address after) {
    set_previous(cpu, after, entry);
    set_next(cpu, entry, after);
    set_previous(cpu, entry, before);
    cpu.store_release(before, entry, kPointerBytes);
  }
  // Behind `head`.
  static void add(Cpu& cpu, Address entry, Address head) { insert(cpu, entry, head, next(cpu, head)); }

  // The entry's own pointers stay, for who walks the list without its lock and stands on it.
  static void remove(Cpu& cpu, Address entry) {
    const Address after = next(cpu, entry);
    const Address before = previous(cpu, entry);
    set_previous(cpu, after, before);
    set_next(cpu, before, after);
  }

  static void remove_and_initialise(Cpu& cpu, Address entry) {
    remove(cpu, entry);
    initialise(cpu, entry);
  }
};

}  // namespace linebounce::workloads
