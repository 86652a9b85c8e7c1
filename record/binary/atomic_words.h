// Words that atomic instructions have changed. On x86 a store releases without any prefix, such as one that frees a spin lock:
// it is recognised by its word, and from then on by its instruction.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { kAtomicWords = 4096, kReleasingStores = 65536 };  // powers of 2

// Each place holds the latest of many words: an atomic instruction that recurs stores its own again. Races between threads are
// harmless: at worst a word is unknown for a moment.
extern uint64_t atomic_words[kAtomicWords];
extern uint8_t releasing_stores[kReleasingStores];

static inline uint64_t* place_of_word(uint64_t address) {
  const uint64_t word = address / 8;
  return &atomic_words[(word ^ word / kAtomicWords) % kAtomicWords];
}

static inline void remember_atomic(uint64_t address) {
  __atomic_store_n(place_of_word(address), address, __ATOMIC_RELAXED);
}

// Also true for neighbours in the same 8 bytes: a ticket lock is taken by one number and freed by the other.
static inline bool is_in_atomic_word(uint64_t address) {
  return __atomic_load_n(place_of_word(address), __ATOMIC_RELAXED) / 8 == address / 8;
}

// Whether the instruction has stored to such a word before; other instructions may share the place.
static inline uint8_t* releases(uint64_t instruction) {
  return &releasing_stores[(instruction ^ instruction / kReleasingStores) % kReleasingStores];
}
