// A controller's storage slots for lines or entries, set-associative like a cache. If no victim can make room for a line, the
// line gets no slot and is kept only while it is in use.
#pragma once

#include <optional>

#include "models/cache/cache_array.hpp"
#include "models/memory/line_store.hpp"

namespace linebounce {

class LinePlaces {
 public:
  LinePlaces() = default;  // an unlimited number of slots
  explicit LinePlaces(const CacheSpec& spec) : array_(spec) {}
  // Storage slots for entries without data. The cache array treats each entry as a line of 1 KiB.
  static LinePlaces of_entries(int entries, int ways) {
    return LinePlaces(CacheSpec{.name = "entries", .size_kib = entries, .ways = ways, .line_bytes = 1024});
  }

  // Gives the line a storage slot, taken from a victim if need be. `evictable(slot)` tells whether the line with this LineStore
  // slot may be the victim; `evict(slot)` evicts it.
  template <class Evictable, class Evict>
  void give(LineAddr line, Slot slot, Tick at, Evictable evictable, Evict evict) {
    if (!array_) return;
    const int place = array_->victim(line.value, evictable);
    if (place < 0) return;
    if (!array_->is_free(place)) {
      const Slot victim = array_->copy(place);
      array_->remove(place);
      evict(victim);
    }
    array_->insert(line.value, place, slot, at);
  }
  void use(LineAddr line, Tick at) {
    if (!array_) return;
    if (const int place = array_->find(line.value); place >= 0) array_->touch(place, at);
  }
  void take_back(LineAddr line) {
    if (!array_) return;
    if (const int place = array_->find(line.value); place >= 0) array_->remove(place);
  }

 private:
  std::optional<CacheArray> array_;
};

}  // namespace linebounce
