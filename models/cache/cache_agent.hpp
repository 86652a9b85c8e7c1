// All private caches of one core as one coherence agent. A line that any of its levels holds, that is on its way, or that waits
// in the write-back buffer is one Copy: one state, one set of data bytes, one version. The levels only say how near it is. No
// time and no events in here: the timed core and the functional-only mode of `bench` both drive it.
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
  Tick last_touch = -1;  // local time of the latest access by the core that used it (invariant I2)
  Slot slot = 0;
  Version version = 0;
  CopyIndex index = 0;                    // its own
  std::array<int, kMostLevels> places{};  // in each level that holds it, if the level has lines of the same size
  StateId state = 0;
  std::uint8_t fast = 0;       // bit Access: an access of this kind is a mere hit: no row but `hit`, no change of state
  std::uint8_t levels = 0;     // bit k: level k holds it, or a part of it
  bool watched = false;        // a parked spin wants to know of any change
  bool locked = false;         // an atomic operation is under way and another thread of the core may come
  bool may_be_locked = false;  // by an atomic operation under way; the bus asks BusClient::locked_until()
};

class CacheAgent {
 public:
  // `number`: the agent's own, 0 to 63. `spare_copies`: lines beside those in the levels, waiting to be written back
  // or operated on at memory.
  CacheAgent(int number, std::span<const CacheSpec> levels, const ControllerTable& table, LineStore& store, int spare_copies);

  [[nodiscard]] int levels() const { return static_cast<int>(arrays_.size()); }
  [[nodiscard]] LineStore& store() const { return *store_; }
  [[nodiscard]] const ControllerTable& table() const { return *table_; }

  [[nodiscard]] std::byte* data(Copy& copy) const { return reinterpret_cast<std::byte*>(&copy) + sizeof(Copy); }
  [[nodiscard]] const std::byte* data(const Copy& copy) const {
    return reinterpret_cast<const std::byte*>(&copy) + sizeof(Copy);
  }

  // The bytes of the copy from this address on.
  [[nodiscard]] std::byte* word(Copy& copy, Address address) const { return data(copy) + store_->offset_of(address); }
  [[nodiscard]] const std::byte* word(const Copy& copy, Address address) const {
    return data(copy) + store_->offset_of(address);
  }
  // A store into the copy, which makes it the line's latest version.
  void write(Copy& copy, Address address, Value value, int bytes) const {
    write_word(word(copy, address), bytes, value);
    copy.version = store_->next_version(copy.slot);
  }

  // The path of a hit: the copy if the nearest level holds the address and `access` is a mere hit, else null. Counts as a use
  // at `age`.
  Copy* hit(Address address, Access access, Tick age) {
    const CacheArray& nearest = arrays_.front();
    return hit_at(nearest.find(address >> nearest.line_shift()), access, age);
  }
  // The same in fewer instructions, but null may also mean that the nearest level has to be searched.
  Copy* hit_last_place(Address address, Access access, Tick age) {
    const CacheArray& nearest = arrays_.front();
    return hit_at(nearest.find_in_last_place(address >> nearest.line_shift()), access, age);
  }

  struct Lookup {
    Copy* copy = nullptr;  // also one that is on its way or in the write-back buffer
    int level = -1;        // the nearest that holds the address; -1: none
  };
  [[nodiscard]] Lookup look_up(Address address);
  [[nodiscard]] Copy* find(LineAddr line) {
    const CacheArray& outermost = arrays_.back();
    const int place = outermost.find(line.value);
    return place >= 0 ? &copy(outermost.copy(place)) : find_elsewhere(line);
  }
  // Where hit() finds nothing: what look_up does, if `access` is a mere hit of a farther level.
  [[nodiscard]] Lookup find_farther(Address address, Access access) {
    for (int level = 1; level < levels(); ++level) {
      const CacheArray& array = arrays_[static_cast<std::size_t>(level)];
      const int place = array.find(address >> array.line_shift());
      if (place < 0) continue;
      Copy& found = copy(array.copy(place));
      return ((found.fast >> access) & 1) != 0 ? Lookup{&found, level} : Lookup{};
    }
    return {};
  }

  // For an address that the nearest of two levels does not hold: if `access` is a mere hit of the other one, what bring_near()
  // does. Null, with nothing done: it is no such hit, or a victim has to leave the agent.
  Copy* hit_second(Address address, Access access, Tick age, bool& decided) {
    if (arrays_.size() != 2 || !of_lines(0)) return nullptr;
    CacheArray& first = arrays_[0];
    CacheArray& second = arrays_[1];
    const int held = second.find(address >> second.line_shift());
    decided = true;
    if (held < 0) return nullptr;
    Copy& found = copy(second.copy(held));
    if (((found.fast >> access) & 1) == 0) return nullptr;
    const std::uint64_t block = address >> first.line_shift();
    bool would_leave = false;  // whether it may is for others to say
    const int place = first.victim(block, [this, &would_leave](CopyIndex index) {
      const Copy& candidate = copy(index);
      would_leave = would_leave || (candidate.levels & ~1U) == 0;
      return !candidate.locked;
    });
    decided = place >= 0 && !would_leave;
    if (!decided) return nullptr;
    second.touch(held, age);
    if (!first.is_free(place)) {
      Copy& leaving = copy(first.copy(place));
      leaving.levels = static_cast<std::uint8_t>(leaving.levels & ~1U);
    }
    first.insert(block, place, found.index, age);
    found.places[0] = place;
    found.levels = static_cast<std::uint8_t>(found.levels | 1U);
    return &found;
  }

  void set_state(Copy& copy, StateId state) {
    copy.state = state;
    copy.fast = copy.locked || copy.watched ? 0 : fast_[state];
  }
  // After `locked` or `watched` was changed.
  void refresh(Copy& copy) { set_state(copy, copy.state); }

  // Makes room for `line` in the outermost level and gives it a copy in the initial state, without data. `gate` decides about
  // victims: bool may_leave(Copy&), and void leave(Copy&) for each that no level holds any more; leave must run its Evict row.
  // Returns null if no way can be freed now.
  template <class Gate>
  Copy* allocate(LineAddr line, Tick age, Gate& gate);

  // A copy in the initial state that no level holds, for a line that is not to come. REQUIRES: one of the spare ones is left.
  Copy& add_detached(LineAddr line) {
    Copy& fresh = take_copy(line);
    detached_.push_back(fresh.index);
    return fresh;
  }

  // Counts a use of every level that holds the address, and puts it into those nearer than they are. A level whose way can't be
  // freed now is passed by, and if it is inclusive the nearer ones with it. `nearest`: what look_up named, if it was asked.
  template <class Gate>
  void bring_near(Copy& copy, Address address, Tick age, Gate& gate, int nearest = -1);

  // Counts a use of the nearest level that holds the address, for replacement.
  void use(Address address, int level, Tick age);

  // Takes the copy out of all levels; it stays as one that waits (write-back buffer).
  void detach(Copy& copy);
  // The copy is no more.
  void drop(Copy& copy);

  // The latest version of the line is in this copy, or the protocol is broken.
  [[nodiscard]] bool is_latest(const Copy& copy) const { return copy.version == store_->latest(copy.slot); }

  [[nodiscard]] bool nearest_holds(Address address) const {
    return arrays_.front().find(address >> arrays_.front().line_shift()) >= 0;
  }

  // Every copy that is in no level: in the write-back buffer.
  [[nodiscard]] std::span<const CopyIndex> detached() const { return detached_; }
  [[nodiscard]] Copy& copy(CopyIndex index) { return *reinterpret_cast<Copy*>(&pool_[index * stride_]); }

 private:
  Copy* hit_at(int place, Access access, Tick age) {
    if (place < 0) return nullptr;
    Copy& found = copy(arrays_.front().copy(place));
    if (((found.fast >> access) & 1) == 0) return nullptr;
    arrays_.front().touch(place, age);
    return &found;
  }
  // In a nearer level, or waiting to be written back.
  [[nodiscard]] Copy* find_elsewhere(LineAddr line);
  Copy& take_copy(LineAddr line);
  void attach(Copy& copy, int level, std::uint64_t block, int place, Tick age);
  void evict_block(Copy& copy, int level, int place);
  void remove_from_level(Copy& copy, int level);
  [[nodiscard]] std::uint64_t first_block(LineAddr line, int level) const;
  [[nodiscard]] int blocks_per_line(int level) const {
    return 1 << (line_shift_ - arrays_[static_cast<std::size_t>(level)].line_shift());
  }

  // Its lines are coherence lines, not parts of them.
  [[nodiscard]] bool of_lines(int level) const { return (of_lines_ >> level & 1) != 0; }
  // Where the level holds this block of the copy's, or -1.
  [[nodiscard]] int place_of(const Copy& copy, std::uint64_t block, int level) const {
    const auto number = static_cast<std::size_t>(level);
    if (!of_lines(level)) return arrays_[number].find(block);
    return (copy.levels >> level & 1) != 0 ? copy.places[number] : -1;
  }

  // An inclusive level holds whatever the nearer ones do.
  [[nodiscard]] bool inclusive(int level) const { return (inclusive_ >> level & 1) != 0; }

  // Frees a place for `block` at `level`: its number, or -1.
  template <class Gate>
  int make_room(int level, std::uint64_t block, Gate& gate);

  int number_;
  std::vector<CacheArray> arrays_;  // the nearest first
  unsigned inclusive_ = 0;          // bit k: level k is
  unsigned of_lines_ = 0;           // likewise
  const ControllerTable* table_;
  LineStore* store_;
  int line_shift_;
  std::vector<std::uint8_t> fast_;  // by state
  std::size_t stride_;
  std::unique_ptr<std::byte[]> pool_;
  CopyIndex pool_used_ = 0;
  CopyIndex pool_size_;
  std::vector<CopyIndex> free_;
  std::vector<CopyIndex> detached_;
};

template <class Gate>
int CacheAgent::make_room(int level, std::uint64_t block, Gate& gate) {
  CacheArray& array = arrays_[static_cast<std::size_t>(level)];
  const int place = array.victim(block, [&](CopyIndex index) {
    Copy& candidate = copy(index);
    // An inclusive level takes the nearer levels' parts along; only what a farther level holds as well stays in the agent.
    const unsigned others = inclusive(level) ? candidate.levels >> (level + 1) : candidate.levels & ~(1U << level);
    return !candidate.locked && (others != 0 || gate.may_leave(candidate));
  });
  if (place < 0 || array.is_free(place)) return place;
  Copy& leaving = copy(array.copy(place));
  evict_block(leaving, level, place);
  if (leaving.levels == 0) gate.leave(leaving);
  return place;
}

template <class Gate>
Copy* CacheAgent::allocate(LineAddr line, Tick age, Gate& gate) {
  const int outermost = levels() - 1;
  const int place = make_room(outermost, line.value, gate);
  if (place < 0) return nullptr;
  Copy& fresh = take_copy(line);
  attach(fresh, outermost, line.value, place, age);
  return &fresh;
}

template <class Gate>
void CacheAgent::bring_near(Copy& copy, Address address, Tick age, Gate& gate, int nearest) {
  for (int level = levels() - 1; level >= 0; --level) {
    CacheArray& array = arrays_[static_cast<std::size_t>(level)];
    const std::uint64_t block = address >> array.line_shift();
    const int held = level < nearest ? -1 : place_of(copy, block, level);
    if (held >= 0) {
      array.touch(held, age);
      continue;
    }
    // The copy may itself be the only candidate in its set, or be pushed out by a level that makes room: it must not leave
    // here.
    const bool was_locked = copy.locked;
    copy.locked = true;
    const int place = make_room(level, block, gate);
    copy.locked = was_locked;
    if (place >= 0) attach(copy, level, block, place, age);
    // Nearer levels hold nothing that an inclusive one does not.
    if (place < 0 && inclusive(level)) return;
  }
}

}  // namespace linebounce
