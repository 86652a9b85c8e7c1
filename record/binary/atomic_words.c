#include "atomic_words.h"

uint64_t atomic_words[kAtomicWords];
uint8_t releasing_stores[kReleasingStores];
