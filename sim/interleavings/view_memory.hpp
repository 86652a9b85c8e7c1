// Memory under the model c11, which is weaker than every machine's: C11's atomic operations without load buffering. Each CPU
// may see stores in a different order. The README of this folder compares it with C11, the kernel's model and arm64.
//
//   cell:    the values that a word has had, oldest first (its modification order). A store may be put before values that its
//            CPU has not seen; a read-modify-write directly follows the value that it has read, and nothing comes between.
//   view:    for each cell, the oldest value that may still be read
//   CPU:     `current`, its view; `acquirable`, what an acquire fence would make of it, and what a release passes on;
//            `released`, its view at the latest release fence, which relaxed stores pass on; `everywhere`, what sequentially
//            consistent fences that it follows have made visible to all CPUs, which all of its stores pass on
//   value:   `view`, what an acquiring load of it learns; `everywhere`, what each later store of a CPU that loads it passes on;
//            `before`, what loads before the store could have told its CPU
//   `sequential`: the view that sequentially consistent operations share
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/memory/line_store.hpp"
#include "sim/interleavings/checked_memory.hpp"
#include "sim/interleavings/word_cells.hpp"

namespace linebounce::sim {

// Which object an address belongs to, and which one a loaded value points into; -1: none.
struct ObjectsOf {
  std::function<int(Address)> address = [](Address) { return -1; };
  std::function<int(Value)> value = [](Value) { return -1; };
};

class ViewMemory {
 public:
  ViewMemory(LineStore& initial, int cpus, WordCells& cells, ObjectsOf objects = {});

  struct Word {
    Address address = 0;
    int bytes = 8;
  };

  // The places, counted from the oldest value, that the CPU may load from; the newest first.
  [[nodiscard]] std::vector<int> loadable(int cpu, const Word& word, MemoryOrder order) const;
  // Those that its read-modify-write may read, and so replace.
  [[nodiscard]] std::vector<int> updatable(int cpu, const Word& word, MemoryOrder order) const;
  // Those that its store may directly follow.
  [[nodiscard]] std::vector<int> storable(int cpu, const Word& word, MemoryOrder order) const;
  [[nodiscard]] Value value_at(const Word& word, int place) const;

  // REQUIRES for each: the functions above allow the place.
  Value load(int cpu, const Word& word, int place, MemoryOrder order);
  void store(int cpu, const Word& word, int place, Value value, MemoryOrder order);
  void update(int cpu, const Word& word, int place, Value value, MemoryOrder order);
  void fence(int cpu, MemoryOrder order);

  // Once `sleeper` wakes up, it sees what `waker` has seen.
  void wake(int waker, int sleeper);
  void wake_up(int cpu);

  // True if the CPU may read no value but the newest of any cell.
  [[nodiscard]] bool sees_everything(int cpu) const;
  [[nodiscard]] WordCells::Cell cell_of(const Word& word) const { return cells_->cell_of(word.address, word.bytes); }
  // Gives two states the same digest if no CPU can tell them apart. Skips values that no running CPU may read any more, and
  // adds only the order of views. `ended`: by CPU.
  void add_to(Digest& digest, const std::vector<bool>& ended) const;

  // For display: the newest values of all cells that were written, by address.
  struct Written {
    Address address = 0;
    int bytes = 0;
    Value value = 0;
  };
  [[nodiscard]] std::vector<Written> written() const;

 private:
  using View = std::vector<int>;  // by cell: a value's number; 0, also for cells beyond its end: the initial value
  struct Stored {
    Value value = 0;
    View view;  // without its own cell, whose part is the value itself
    View everywhere, before;
    int writer = -1;        // CPU; -1: the initial value
    int place = 0;          // in the cell's order
    bool is_taken = false;  // a read-modify-write follows it directly
  };
  struct Cell {
    Address address = 0;
    int bytes = 0;
    std::vector<Stored> values;  // in the order in which they were stored; the first is the initial one
    std::vector<int> order;      // numbers of values, the oldest first
  };
  struct Read {
    int cell = 0, number = 0;
    View told;
  };
  struct Cpu {
    View current, acquirable, released, everywhere, woken;
    std::map<int, View> pointers;  // by object: what the CPU has learnt from pointers into it
    std::vector<Read> reads;       // those that told more than the CPU has learnt
  };

  [[nodiscard]] int cell_number(const Word& word) const;
  [[nodiscard]] static int in(const View& view, int cell);
  [[nodiscard]] int place_in(const View& view, int cell) const;
  void advance(View& view, int cell, int number) const;
  void join(View& view, const View& other) const;
  [[nodiscard]] int oldest_loadable(int cpu, const Word& word, int cell, MemoryOrder order) const;
  [[nodiscard]] int oldest_replaceable(int cpu, int cell, MemoryOrder order) const;
  [[nodiscard]] bool has_learnt_all(int cpu) const;
  [[nodiscard]] bool is_within(const View& view, const View& other) const;
  [[nodiscard]] int own_store_up_to(int cpu, int cell, int place) const;
  [[nodiscard]] View known_to_load(int cpu, int cell, const Stored& value) const;
  void learn(int cpu, int cell, int number, MemoryOrder order);
  void learn_pointer(int cpu, const Stored& from, Value value);
  void insert(int cell, int place, Stored stored);
  void replace(int cpu, const Word& word, int place, Value value, MemoryOrder order);
  void published(int cpu, int cell, int number, MemoryOrder order);
  [[nodiscard]] View published_by(int cpu, MemoryOrder order) const;
  [[nodiscard]] Value with_bytes(const Cell& cell, Value whole, const Word& word, Value part) const;
  void add_view(Digest& digest, const View& view, const std::vector<int>& oldest) const;
  [[nodiscard]] std::vector<int> oldest_that_matter(const std::vector<bool>& ended) const;
  void add_known_to_load(Digest& digest, int cpu, const std::vector<int>& oldest) const;

  LineStore* initial_;
  WordCells* cells_;
  ObjectsOf objects_;
  std::vector<Cpu> cpus_;
  View sequential_;
  // Cells come into being when they are first looked at, which changes nothing that a CPU could tell.
  mutable std::vector<Cell> memory_;
  mutable std::map<Address, int> number_of_;  // by address; in the order of the digest
};

}  // namespace linebounce::sim
