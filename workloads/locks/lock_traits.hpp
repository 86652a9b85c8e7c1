// What a lock guarantees, and what it needs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace linebounce::workloads {

enum class Readers : std::uint8_t {
  one_by_one,  // readers exclude each other, as writers do
  together,    // readers may hold the lock together, and keep writers out
  read_again,  // a reader starts again if a writer came meanwhile: its section must be repeatable and must not sleep
  never_wait   // readers never wait; they may see old data, which a writer must keep until they have left
};

// True if a writer waits until all readers have left.
[[nodiscard]] constexpr bool keep_writers_out(Readers readers) {
  return readers == Readers::one_by_one || readers == Readers::together;
}

// The orders in which memory operations of several CPUs may take effect. The first three are those of simulated machines; c11
// is weaker than all of them (sim/interleavings/view_memory.hpp).
enum class MemoryModel : std::uint8_t { sc, tso, ia64, c11 };

inline constexpr std::array<std::string_view, 4> kMemoryModels = {"sc", "tso", "ia64", "c11"};  // by MemoryModel

std::optional<MemoryModel> model_named(std::string_view word);
// The set of models in a list such as "sc tso", as LockTraits::models. None if a word names no model, or there is no word.
std::optional<unsigned> models_in(std::string_view words);

struct LockTraits {
  bool excludes = true;  // true if two writers exclude each other; false only for the lock `none`
  bool fifo = false;     // CPUs get the lock in the order in which they requested it
  bool sleeps = false;   // a waiter may put its CPU to sleep
  Readers readers = Readers::one_by_one;
  bool fits_4_bytes = false;  // a word of 4 bytes is enough
  bool numa_aware = false;    // hand-offs prefer waiters in the holder's node
  bool tries = true;          // has a try_acquire()
  bool readers_nest = true;   // a reader may acquire the lock again while it holds it; false: this can deadlock with a writer
  // The memory models under which the lock promises to work, as 1 << model.
  unsigned models = 0xf;
  int most_cpus = 0;  // largest number of CPUs that may use the lock; 0: any number

  [[nodiscard]] bool claims(MemoryModel model) const { return (models >> static_cast<unsigned>(model) & 1U) != 0; }

  friend bool operator==(const LockTraits&, const LockTraits&) = default;
};

}  // namespace linebounce::workloads
