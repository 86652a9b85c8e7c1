// The traits of a lock: what it guarantees and what it needs.
#pragma once

#include <cstdint>

namespace linebounce::workloads {

enum class Readers : std::uint8_t {
  one_by_one,  // as writers
  together,    // and keep writers out
  read_again,  // if a writer came between: they must be able to, and may not sleep inside
  never_wait   // they see what was there before a writer, who must leave it until they have gone
};

// Whether a writer waits until those who read have left.
[[nodiscard]] constexpr bool keep_writers_out(Readers readers) {
  return readers == Readers::one_by_one || readers == Readers::together;
}

struct LockTraits {
  bool excludes = true;  // two writers; `none` does not
  bool fifo = false;     // first come, first served
  bool sleeps = false;   // who waits gives the CPU away
  Readers readers = Readers::one_by_one;
  bool fits_4_bytes = false;  // a word of 4 bytes is enough for it
  int most_cpus = 0;          // that may take it; 0: any number
};

}  // namespace linebounce::workloads
