// Remembers which words atomic instructions have changed. On x86 a releasing store, such as one that frees a spin lock, is a
// plain store. It is recognised because its word was changed atomically before. From then on its instruction counts as
// releasing.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { kAtomicWords = 4096, kReleasingStores = 65536 };  // powers of 2

// A table without chains: each entry holds the latest of many words that map to it. A recurring atomic instruction soon stores
// its word again. Races between threads are harmless, because a missing word only delays recognition.
extern uint64_t atomic_words[kAtomicWords];
extern uint8_t releasing_stores[kReleasingStores];

static inline uint64_t* place_of_word(uint64_t address) {
  const uint64_t word = address / 8;
  return &atomic_words[(word ^ word / kAtomicWords) % kAtomicWords];
}

static inline void remember_atomic(uint64_t address) {
  __atomic_store_n(place_of_word(address), address, __ATOMIC_RELAXED);
}

// Compares whole 8-byte words, because a ticket lock is taken through one half of its word and freed through the other.
static inline bool is_in_atomic_word(uint64_t address) {
  return __atomic_load_n(place_of_word(address), __ATOMIC_RELAXED) / 8 == address / 8;
}

// Returns the flag that says whether this instruction has stored to such a word. Instructions that map to the same entry share
// a flag.
static inline uint8_t* releases(uint64_t instruction) {
  return &releasing_stores[(instruction ^ instruction / kReleasingStores) % kReleasingStores];
}
