// Stores that have left the program but are not in the cache yet. In order under TSO; under the ia64 model a plain store may
// pass earlier ones of other lines, a releasing one waits for all of them.
#pragma once

#include <optional>
#include <vector>

#include "models/core/cpu_operation.hpp"

namespace linebounce {

class StoreBuffer {
 public:
  struct Entry {
    Operation operation;
    int id = 0;
    bool release = false;
    bool in_flight = false;  // its line has been asked for
    Tick ready = 0;          // may be tried at this time; kNever: when something changes
  };

  StoreBuffer(int capacity, bool in_order) : capacity_(capacity), in_order_(in_order) {
    entries_.reserve(static_cast<std::size_t>(capacity));
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // A store that enters now can't drain before others have.
  [[nodiscard]] bool must_drain_before(bool release) const { return !entries_.empty() && (in_order_ || release); }
  [[nodiscard]] bool full() const { return static_cast<int>(entries_.size()) == capacity_; }

  void push(const Operation& operation, bool release, Tick ready) {
    entries_.push_back({.operation = operation, .id = next_id_++, .release = release, .ready = ready});
  }

  // When the next entry may be tried: kNever if none may.
  [[nodiscard]] Tick next_drain() const;
  // The first entry in program order that is due at `at`. REQUIRES: next_drain() == at.
  Entry& due(Tick at);
  // REQUIRES: the entry is there.
  [[nodiscard]] const Operation& operation(int id) const;
  // The store of this entry is in the cache since `at`; the next one follows no earlier than at `next_ready`.
  void remove(int id, Tick next_ready);
  // What was put off is tried again at `at`: the line for which it had to wait came from `source`.
  void try_again(Tick at, Source source);

  // What a load of these bytes must see: nothing (no store to them waits), a value, or `wait` (they overlap only in part).
  struct Forward {
    bool wait = false;
    std::optional<Value> value;
  };
  [[nodiscard]] Forward forward(Address address, int bytes) const;

 private:
  [[nodiscard]] bool eligible(std::size_t index) const;

  int capacity_;
  bool in_order_;
  int next_id_ = 0;
  std::vector<Entry> entries_;  // in program order
};

}  // namespace linebounce
