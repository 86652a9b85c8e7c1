// The kernel's doubly linked lists in simulated memory. A head or entry has two pointers, next and prev. The head of an empty
// list, and an entry that is in no list, point to themselves.
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

  // Presets `head` as the head of an empty list. REQUIRES: the simulation has not started.
  static void preset_empty(AddressSpace& memory, Address head) {
    memory.preset(head, head, kPointerBytes);
    memory.preset(head + kPointerBytes, head, kPointerBytes);
  }

  static void initialise(Cpu& cpu, Address entry) {
    set_next(cpu, entry, entry);
    set_previous(cpu, entry, entry);
  }

  static bool empty(Cpu& cpu, Address head) { return next(cpu, head) == head; }

  // Publishes the entry with a release store after its own pointers are set, so lock-free readers never see it half linked.
  static void insert(Cpu& cpu, Address entry, Address before, Address after) {
    set_previous(cpu, after, entry);
    set_next(cpu, entry, after);
    set_previous(cpu, entry, before);
    cpu.store_release(before, entry, kPointerBytes);
  }
  // Adds an entry right after `head`.
  static void add(Cpu& cpu, Address entry, Address head) { insert(cpu, entry, head, next(cpu, head)); }

  // Leaves the entry's own pointers as they are, because a lock-free reader may still follow them.
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
