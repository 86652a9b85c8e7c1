// A controller's storage slots for lines or entries, set-associative like a cache. If no victim can make room for a line, the
// line gets no slot and is kept only while it is in use.
#pragma once

#include "models/cache/cache_array.hpp"
#include "models/coherence/controller_entry.hpp"
#include "models/memory/line_store.hpp"
#include "models/reached.hpp"

namespace linebounce {

class LinePlaces {
 public:
  // A cache of `size` KiB, or `size` entries. The cache array treats each entry as a line of 1 KiB.
  LinePlaces(Storage storage, int size, int ways, int line_bytes)
      : storage_(storage),
        array_(CacheSpec{
            .name = "places", .size_kib = size, .ways = ways, .line_bytes = storage == Storage::entries ? 1024 : line_bytes}) {}

  [[nodiscard]] Storage storage() const { return storage_; }

  // Gives the line a storage slot, taken from a victim if none is free. `evictable(slot)`: whether the line with this
  // LineStore slot may be the victim. `evict(slot)` evicts that line.
  template <class Evictable, class Evict>
  void give(LineAddr line, Slot slot, Tick at, Evictable evictable, Evict evict) {
    const int place = array_.victim(line.value, evictable);
    if (place < 0) return REACHED(no_line_can_leave);
    if (!array_.is_free(place)) {
      const Slot victim = array_.copy(place);
      array_.remove(place);
      evict(victim);
    }
    array_.insert(line.value, place, slot, at);
  }
  void use(LineAddr line, Tick at) {
    if (const int place = array_.find(line.value); place >= 0) array_.touch(place, at);
  }
  // Frees the line's storage slot, if the line has one.
  void take_back(LineAddr line) {
    if (const int place = array_.find(line.value); place >= 0) array_.remove(place);
  }

 private:
  Storage storage_;
  CacheArray array_;
};

}  // namespace linebounce
