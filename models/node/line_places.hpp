// The places that a controller has for lines or their entries, in sets and ways as a cache has them. A line that finds no
// victim has no place: it is kept as long as anybody wants it.
#pragma once

#include <optional>

#include "models/cache/cache_array.hpp"
#include "models/memory/line_store.hpp"

namespace linebounce {

class LinePlaces {
 public:
  LinePlaces() = default;  // no limit
  explicit LinePlaces(const CacheSpec& spec) : array_(spec) {}
  // Places for entries without data, one to a line: to the array they are lines of 1 KiB.
  static LinePlaces of_entries(int entries, int ways) {
    return LinePlaces(CacheSpec{.name = "entries", .size_kib = entries, .ways = ways, .line_bytes = 1024});
  }

  // The line gets a place, perhaps another one's. `evictable(slot)`: whether that one can go; `evict(slot)` makes it go.
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
