// What crypto1_bs uses of CraptEV1's header.

#include <stdint.h>

static inline unsigned parity(uint32_t bits) {
  return (unsigned)__builtin_parity(bits);
}
