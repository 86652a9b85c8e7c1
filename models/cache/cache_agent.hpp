// All private caches of one core as one coherence agent. A Copy stands for one line: held by any level, being fetched, or
// waiting in the write-back buffer. It has one state, one set of data bytes and one version; the levels only say how near it
// is. No time and no events: the timed core and the functional-only mode of `bench` use the same code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/access.hpp"
#include "models/cache/cache_array.hpp"
#include "models/coherence/protocol.hpp"
#include "models/memory/line_store.hpp"

namespace linebounce {

// The data bytes follow the struct in memory (CacheAgent::data).
struct Copy {
  LineAddr line;
  Tick last_touch = -1;  // local time of the core's latest access to it (invariant I2 of docs/engine.md)
  Slot slot = 0;
  Version version = 0;
  CopyIndex index = 0;
  std::array<int, kMostLevels> places{};  // by level, if the level holds it and has full coherence lines
  StateId state = 0;
  std::uint8_t fast = 0;       // bit `Access`: the fast path may serve such an access: a plain hit that keeps the state
  std::uint8_t levels = 0;     // bit k: level k holds the line, or a block of it
  bool watched = false;        // a parked spin needs to know about any change
  bool locked = false;         // an atomic holds it, and a sibling thread may try to access it
  bool may_be_locked = false;  // an atomic may hold it: the bus asks BusClient::locked_until()
};

class CacheAgent {
 public:
  // `number`: 0 to 63. `spare_copies`: lines outside all levels, waiting for write-back or operated on at memory.
  CacheAgent(int number, std::span<const CacheSpec> levels, const ControllerTable& table, LineStore& store, int spare_copies);

  [[nodiscard]] int levels() const { return static_cast<int>(arrays_.size()); }
  [[nodiscard]] LineStore& store() const { return *store_; }
  [[nodiscard]] const ControllerTable& table() const { return *table_; }

  [[nodiscard]] std::byte* data(Copy& copy) const { return reinterpret_cast<std::byte*>(&copy) + sizeof(Copy); }
  [[nodiscard]] const std::byte* data(const Copy& copy) const {
    return reinterpret_cast<const std::byte*>(&copy) + sizeof(Copy);
  }

  // The copy's bytes from this address on.
  [[nodiscard]] std::byte* word(Copy& copy, Address address) const { return data(copy) + store_->offset_of(address); }
  [[nodiscard]] const std::byte* word(const Copy& copy, Address address) const {
    return data(copy) + store_->offset_of(address);
  }
  // Stores into the copy, which thereby becomes the line's latest version.
  void write(Copy& copy, Address address, Value value, int bytes) const {
    write_word(word(copy, address), bytes, value);
    copy.version = store_->next_version(copy.slot);
  }

  // Fast path: the copy, used at `age`, if the nearest level holds the address and `Copy::fast` allows the access; else null.
  Copy* hit(Address address, Access access, Tick age) {
    const CacheArray& nearest = arrays_.front();
    return hit_at(nearest.find(address >> nearest.line_shift()), access, age);
  }
  // Needs fewer instructions, but may miss a hit that hit() finds.
  Copy* hit_last_place(Address address, Access access, Tick age) {
    const CacheArray& nearest = arrays_.front();
    return hit_at(nearest.find_in_last_place(address >> nearest.line_shift()), access, age);
  }

  struct Lookup {
    Copy* copy = nullptr;  // also one that is being fetched or is in the write-back buffer
    int level = -1;        // the nearest that holds the address, or -1
  };
  [[nodiscard]] Lookup look_up(Address address);
  [[nodiscard]] Copy* find(LineAddr line) {
    const CacheArray& outermost = arrays_.back();
    const int place = outermost.find(line.value);
    return place >= 0 ? &copy(outermost.copy(place)) : find_elsewhere(line);
  }

  // Functions that make room take a Gate, which decides about victims:
  //   bool may_leave(Copy&)  can the agent give up this copy now?
  //   void leave(Copy&)      no level holds the copy any more; must run its Evict row
  //
  // Makes room for `line` in the outermost level and gives it a copy in the initial state, without data. Null if no way can be
  // freed now.
  template <class Gate>
  Copy* allocate(LineAddr line, Tick age, Gate& gate);

  // Fast path of a farther level: if `Copy::fast` allows the access there, promotes the copy and returns it with that level.
  // REQUIRES: hit() returned null.
  template <class Gate>
  Lookup hit_farther(Address address, Access access, Tick age, Gate& gate);

  // Uses the copy in every level that holds the address, and inserts it into the others. A level that can't free a way now is
  // skipped, and if it is inclusive the nearer ones with it. `nearest`: the level that look_up found, if the caller knows it.
  template <class Gate>
  void promote(Copy& copy, Address address, Tick age, Gate& gate, int nearest = -1);

  // Records a use at `age` in this level. REQUIRES: the level holds the address.
  void use(Address address, int level, Tick age);

  // A copy in the initial state that no level holds, for an operation at memory. REQUIRES: a spare copy is left.
  Copy& add_detached(LineAddr line) {
    Copy& fresh = take_copy(line);
    detached_.push_back(fresh.index);
    return fresh;
  }
  // Removes the copy from all levels; it stays in the agent until drop().
  void detach(Copy& copy);
  // Frees the copy.
  void drop(Copy& copy);
  // The copies that no level holds.
  [[nodiscard]] std::span<const CopyIndex> detached() const { return detached_; }
  [[nodiscard]] Copy& copy(CopyIndex index) { return *reinterpret_cast<Copy*>(&pool_[index * stride_]); }

  void set_state(Copy& copy, StateId state) {
    copy.state = state;
    copy.fast = copy.locked || copy.watched ? 0 : fast_[state];
  }
  // REQUIRES: called after every change of `locked` or `watched`.
  void refresh(Copy& copy) { set_state(copy, copy.state); }

  // False only if the protocol is broken.
  [[nodiscard]] bool is_latest(const Copy& copy) const { return copy.version == store_->latest(copy.slot); }

  [[nodiscard]] bool nearest_holds(Address address) const {
    return arrays_.front().find(address >> arrays_.front().line_shift()) >= 0;
  }

 private:
  [[nodiscard]] static bool allows(const Copy& copy, Access access) { return ((copy.fast >> access) & 1) != 0; }
  Copy* hit_at(int place, Access access, Tick age) {
    if (place < 0) return nullptr;
    Copy& found = copy(arrays_.front().copy(place));
    if (!allows(found, access)) return nullptr;
    arrays_.front().touch(place, age);
    return &found;
  }
  // In a level nearer than the outermost, or in none.
  [[nodiscard]] Copy* find_elsewhere(LineAddr line);
  Copy& take_copy(LineAddr line);
  // The place of some block of the line in this level, or -1.
  [[nodiscard]] int find_any_block(LineAddr line, int level) const;
  void remove_from_level(Copy& copy, int level);

  [[nodiscard]] static bool holds(int level, const Copy& copy) { return ((copy.levels >> level) & 1) != 0; }
  static void set_holds(int level, Copy& copy) { copy.levels = static_cast<std::uint8_t>(copy.levels | 1U << level); }
  static void clear_holds(int level, Copy& copy) { copy.levels = static_cast<std::uint8_t>(copy.levels & ~(1U << level)); }
  // The level's lines are coherence lines, not parts of them.
  [[nodiscard]] bool has_full_lines(int level) const { return (full_lines_ >> level & 1) != 0; }
  [[nodiscard]] bool inclusive(int level) const { return (inclusive_ >> level & 1) != 0; }

  // Frees a place for `block`, not by evicting a block of `keep`. Returns -1 if it can't.
  template <class Gate>
  int make_room(int level, std::uint64_t block, const Copy* keep, Gate& gate);
  // Inserts the copy's block into the level if a way can be freed. False if the nearer levels must stay without it as well.
  template <class Gate>
  bool fill(Copy& copy, int level, Address address, Tick age, Gate& gate);
  void attach(Copy& copy, int level, std::uint64_t block, int place, Tick age) {
    arrays_[level].insert(block, place, copy.index, age);
    copy.places[level] = place;
    set_holds(level, copy);
  }
  // Evicting from an inclusive level removes the line from the nearer ones, too.
  void evict_block(Copy& copy, int level, int place) {
    arrays_[level].remove(place);
    if (has_full_lines(level) || find_any_block(copy.line, level) < 0) clear_holds(level, copy);
    if (!inclusive(level)) return;
    for (int nearer = 0; nearer < level; ++nearer) remove_from_level(copy, nearer);
  }
  [[nodiscard]] int place_of(const Copy& copy, Address address, int level) const {
    if (!has_full_lines(level)) return arrays_[level].find(address >> arrays_[level].line_shift());
    return holds(level, copy) ? copy.places[level] : -1;
  }

  int number_;
  std::vector<CacheArray> arrays_;  // the nearest level first
  unsigned inclusive_ = 0;          // bit k: level k is inclusive
  unsigned full_lines_ = 0;         // bit k: level k has full coherence lines
  const ControllerTable* table_;
  LineStore* store_;
  int line_shift_;
  std::vector<std::uint8_t> fast_;  // Copy::fast by state
  std::size_t stride_;
  std::unique_ptr<std::byte[]> pool_;
  CopyIndex pool_used_ = 0;
  CopyIndex pool_size_;
  std::vector<CopyIndex> free_;
  std::vector<CopyIndex> detached_;
};

template <class Gate>
int CacheAgent::make_room(int level, std::uint64_t block, const Copy* keep, Gate& gate) {
  CacheArray& array = arrays_[level];
  const int place = array.victim(block, [&](CopyIndex index) {
    Copy& candidate = copy(index);
    // An inclusive level's victim leaves the nearer levels as well; it stays in the agent only if a farther level holds it.
    const unsigned others = inclusive(level) ? candidate.levels >> (level + 1) : candidate.levels & ~(1U << level);
    return !candidate.locked && &candidate != keep && (others != 0 || gate.may_leave(candidate));
  });
  if (place < 0 || array.is_free(place)) return place;
  Copy& victim = copy(array.copy(place));
  evict_block(victim, level, place);
  if (victim.levels == 0) gate.leave(victim);
  return place;
}

template <class Gate>
Copy* CacheAgent::allocate(LineAddr line, Tick age, Gate& gate) {
  const int outermost = levels() - 1;
  const int place = make_room(outermost, line.value, nullptr, gate);
  if (place < 0) return nullptr;
  Copy& fresh = take_copy(line);
  attach(fresh, outermost, line.value, place, age);
  return &fresh;
}

template <class Gate>
CacheAgent::Lookup CacheAgent::hit_farther(Address address, Access access, Tick age, Gate& gate) {
  for (int level = 1; level < levels(); ++level) {
    CacheArray& array = arrays_[level];
    const int place = array.find(address >> array.line_shift());
    if (place < 0) continue;
    Copy& found = copy(array.copy(place));
    if (!allows(found, access)) return {};
    if (level < levels() - 1) {
      promote(found, address, age, gate, level);
    } else {  // nothing to update in farther levels
      array.touch(place, age);
      int nearer = level - 1;
      while (nearer >= 0 && fill(found, nearer, address, age, gate)) --nearer;
    }
    return {&found, level};
  }
  return {};
}

template <class Gate>
void CacheAgent::promote(Copy& copy, Address address, Tick age, Gate& gate, int nearest) {
  for (int level = levels() - 1; level >= 0; --level) {
    if (const int held = level < nearest ? -1 : place_of(copy, address, level); held >= 0) {
      arrays_[level].touch(held, age);
    } else if (!fill(copy, level, address, age, gate)) {
      return;
    }
  }
}

template <class Gate>
bool CacheAgent::fill(Copy& copy, int level, Address address, Tick age, Gate& gate) {
  const std::uint64_t block = address >> arrays_[level].line_shift();
  const int place = make_room(level, block, &copy, gate);
  if (place >= 0) attach(copy, level, block, place, age);
  return place >= 0 || !inclusive(level);
}

}  // namespace linebounce
