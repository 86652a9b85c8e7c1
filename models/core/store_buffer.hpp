// A hardware thread's store buffer. Under TSO stores drain in program order. Under the ia64 model a plain store may pass
// earlier stores to other words, and a releasing store waits for all earlier stores.
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
    bool in_flight = false;  // true while an MSHR fetches the entry's line
    Tick ready = 0;          // time of the next attempt to drain; kNever after a failed attempt, until retry() sets a time
  };

  StoreBuffer(int capacity, bool in_order) : capacity_(capacity), in_order_(in_order) { entries_.reserve(capacity); }

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // True if a store that enters the buffer now can't drain before the buffer's other stores.
  [[nodiscard]] bool must_drain_before(bool release) const { return !entries_.empty() && (in_order_ || release); }
  [[nodiscard]] bool full() const { return static_cast<int>(entries_.size()) == capacity_; }

  void push(const Operation& operation, bool release, Tick ready) {
    entries_.push_back({.operation = operation, .id = next_id_++, .release = release, .ready = ready});
  }

  // Time of the next attempt to drain an entry, or kNever.
  [[nodiscard]] Tick next_drain() const {
    if (entries_.empty()) return kNever;
    if (!in_order_) return next_drain_of_any();
    return entries_.front().in_flight ? kNever : entries_.front().ready;
  }
  // Returns the first entry in program order that is due at `at`. REQUIRES: next_drain() == at.
  Entry& due(Tick at);
  // REQUIRES: the buffer holds this entry.
  [[nodiscard]] const Operation& operation(int id) const;
  // Removes a drained entry. No other entry drains before `next_ready`.
  void remove(int id, Tick next_ready);
  // Makes every entry whose `ready` is kNever due at `at`. `source`: the supplier of the line that has arrived.
  void retry(Tick at, Source source);

  // The buffer's answer to a load. `value` is set if one store covers all loaded bytes. `wait` is true if a store covers only
  // some of them, so that the load must wait until that store drains.
  struct Forward {
    bool wait = false;
    std::optional<Value> value;
  };
  [[nodiscard]] Forward forward(Address address, int bytes) const;

  // How many of the stores to the `line_bytes` at `line` drain, once the core owns this line, before the buffer needs another
  // line.
  [[nodiscard]] int draining_to(Address line, int line_bytes) const;

 private:
  [[nodiscard]] Tick next_drain_of_any() const;
  [[nodiscard]] bool eligible(std::size_t index) const;

  int capacity_;
  bool in_order_;
  int next_id_ = 0;
  std::vector<Entry> entries_;  // the entries in program order
};

}  // namespace linebounce
