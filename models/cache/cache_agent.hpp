// All private caches of one core as one coherence agent. A Copy stands for one line that a level holds, that is being fetched,
// or that waits in the write-back buffer. A copy has one state, one set of data bytes and one version, whichever levels hold
// it. The agent knows neither time nor events, so the timed core and the untimed `bench` use the same code.
#pragma once

#include <array>
#include <bit>
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

// The copy's data bytes follow the struct in memory (CacheAgent::data).
struct Copy {
  LineAddr line;
  Tick last_touch = -1;  // local time of the core's latest access to the line (invariant I2 of docs/engine.md)
  Slot slot = 0;         // kNoSlot once the copy is dropped
  Version version = 0;
  CopyIndex index = 0;
  // By level: the line's place if level k holds it (see `levels`); unused for levels with smaller lines.
  std::array<int, kMostLevels> places{};
  StateId state = 0;
  std::uint8_t fast = 0;    // bit k: set if the fast path may serve an Access of value k, which then hits and keeps the state
  std::uint8_t levels = 0;  // bit k: set if level k holds the line or a part of it
  bool watched = false;     // true if a parked spin must be told of any change
  bool locked = false;      // true while an atomic operation locks the line against sibling threads
  // True if the core might keep the line from other agents; the bus then asks BusClient::kept_until()
  bool may_be_kept = false;
};

class CacheAgent {
 public:
  // `number`: the agent's number in `store`, from 0. `spare_copies`: how many copies may exist outside all levels, because they
  // wait for write-back or because memory operates on them.
  CacheAgent(int number, std::span<const CacheSpec> levels, const ControllerTable& table, LineStore& store, int spare_copies);

  [[nodiscard]] int levels() const { return static_cast<int>(arrays_.size()); }
  [[nodiscard]] LineStore& store() const { return *store_; }
  [[nodiscard]] const ControllerTable& table() const { return *table_; }

  [[nodiscard]] std::byte* data(Copy& copy) const { return reinterpret_cast<std::byte*>(&copy) + sizeof(Copy); }
  [[nodiscard]] const std::byte* data(const Copy& copy) const {
    return reinterpret_cast<const std::byte*>(&copy) + sizeof(Copy);
  }

  // Pointer to the copy's bytes from `address` on.
  [[nodiscard]] std::byte* word(Copy& copy, Address address) const { return data(copy) + store_->offset_of(address); }
  [[nodiscard]] const std::byte* word(const Copy& copy, Address address) const {
    return data(copy) + store_->offset_of(address);
  }
  // Writes a value into the copy, which thereby becomes the line's latest version.
  void write(Copy& copy, Address address, Value value, int bytes) const {
    write_word(word(copy, address), bytes, value);
    copy.version = store_->next_version(copy.slot);
  }

  // Fast path: if the nearest level holds the address and `Copy::fast` allows the access, returns the copy and records a use of
  // it at `age`. Otherwise returns null.
  Copy* hit(Address address, Access access, Tick age) {
    const CacheArray& nearest = arrays_.front();
    return hit_at(nearest.find(address >> nearest.line_shift()), access, age);
  }
  // Like hit(), but with fewer instructions. May return null where hit() finds the copy.
  Copy* hit_last_place(Address address, Access access, Tick age) {
    const CacheArray& nearest = arrays_.front();
    return hit_at(nearest.find_in_last_place(address >> nearest.line_shift()), access, age);
  }

  struct Lookup {
    Copy* copy = nullptr;  // null if there is none; may be in the write-back buffer or still being fetched
    int level = -1;        // the nearest level that holds the address, or -1
    Slot slot = kNoSlot;   // the line's slot, if `copy` is null and the slot is known
  };
  [[nodiscard]] Lookup look_up(Address address) {
    const CacheArray& nearest = arrays_.front();
    const std::uint64_t block = address >> nearest.line_shift();
    if (all_full_lines_) {  // the copy itself knows which levels hold it
      if (Copy* latest = latest_copy(store_->line_of(address)); latest != nullptr) {
        if (holds(0, *latest)) nearest.note_place(block, latest->places[0]);
        return {.copy = latest, .level = std::countr_zero(latest->levels)};
      }
    } else if (const int place = nearest.find_in_last_place(block); place >= 0) {
      return {.copy = &copy(nearest.copy(place)), .level = 0};
    }
    return search(address);
  }
  [[nodiscard]] Copy* find(LineAddr line) {
    Copy* const latest = latest_copy(line);
    return latest != nullptr ? latest : search_all(line);
  }

  // Functions that evict lines take a Gate, which decides about victims:
  //   bool may_leave(const Copy&)  returns true if the agent can give up this copy now
  //   void leave(Copy&)            runs the copy's Evict row, once no level holds the copy any more
  //
  // Inserts a copy of `line` into the outermost level, in the initial state, without data. Returns null if no way can be freed.
  // `slot`: the line's, if it is known.
  template <class Gate>
  Copy* allocate(LineAddr line, Tick age, Gate& gate, Slot slot = kNoSlot);

  // Like hit(), but searches all levels. If only a farther level holds the copy, promotes it, as a use at `farther_age`.
  // Returns the copy and the nearest level that held it, or an empty Lookup. If `farther_age` is kNever, only the nearest
  // level counts.
  template <class Gate>
  Lookup hit_any_level(Address address, Access access, Tick age, Tick farther_age, Gate& gate);

  // Records a use of the copy in every level that holds the address, and inserts it into the other levels. Skips a level that
  // can't free a way now; if that level is inclusive, skips all nearer levels, too. `nearest`: the level that look_up()
  // found, or -1.
  template <class Gate>
  void promote(Copy& copy, Address address, Tick age, Gate& gate, int nearest = -1);

  // Records a use of the address at `age` in this level. REQUIRES: the level holds the address.
  void use(Address address, int level, Tick age);

  // Creates a copy in the initial state, in no level, for an operation that memory executes. REQUIRES: a spare copy is left.
  Copy& add_detached(LineAddr line) {
    Copy& fresh = take_copy(line, kNoSlot);
    detached_.push_back(fresh.index);
    return fresh;
  }
  // Removes the copy from all levels. It stays in the agent until drop().
  void detach(Copy& copy);
  // Removes the copy from all levels and frees it.
  void drop(Copy& copy);
  // The copies that no level holds.
  [[nodiscard]] std::span<const CopyIndex> detached() const { return detached_; }
  [[nodiscard]] Copy& copy(CopyIndex index) { return *reinterpret_cast<Copy*>(&pool_[index * host_lines_]); }

  // `hits`: for each state, the value of Copy::fast; from the caches' table, which all agents on a bus share.
  static void set_state(Copy& copy, StateId state, const std::uint8_t* hits) {
    copy.state = state;
    copy.fast = copy.locked || copy.watched ? 0 : hits[state];
  }
  void set_state(Copy& copy, StateId state) { set_state(copy, state, table_->hits.data()); }
  // Updates Copy::fast. Must be called after every change of `locked` or `watched`.
  void refresh(Copy& copy) { set_state(copy, copy.state); }

  // True if the copy has the line's latest version; false only if the protocol is broken.
  [[nodiscard]] bool is_latest(const Copy& copy) const { return copy.version == store_->latest(copy.slot); }

  [[nodiscard]] bool nearest_holds(Address address) const {
    return arrays_.front().find(address >> arrays_.front().line_shift()) >= 0;
  }

 private:
  // Enough for a core's 256 KiB of lines of 32 bytes. Zeroing a larger table would slow down short runs.
  static constexpr std::size_t kLatestCopies = 8192;
  // A cache line of the host. Every copy begins at a host line, and so touches as few host lines as possible.
  struct alignas(64) HostLine {
    std::array<std::byte, 64> bytes;
  };
  [[nodiscard]] static bool allows(const Copy& copy, Access access) { return ((copy.fast >> access) & 1) != 0; }
  Copy* hit_at(int place, Access access, Tick age) {
    if (place < 0) return nullptr;
    Copy& found = copy(arrays_.front().copy(place));
    if (!allows(found, access)) return nullptr;
    arrays_.front().touch(place, age);
    return &found;
  }
  // Finds the line's copy, if some level holds it, by the low bits of the line's number. May return null although there is a
  // copy: the search remembers only the latest of all lines with the same low bits. It reads no tags, because the copy itself
  // names its line, so the host waits for only one of its own cache lines.
  [[nodiscard]] Copy* latest_copy(LineAddr line) {
    Copy& latest = copy(latest_[line.value % kLatestCopies]);
    return latest.line == line && latest.levels != 0 ? &latest : nullptr;
  }
  void note_latest(const Copy& copy) { latest_[copy.line.value % kLatestCopies] = copy.index; }
  // The slow path of look_up(). There may be no copy.
  [[nodiscard]] Lookup search(Address address);
  // The slow path of find().
  [[nodiscard]] Copy* search_all(LineAddr line);
  // Finds the line's copy if the outermost level doesn't hold it: in a nearer level, or among the detached copies.
  [[nodiscard]] Copy* find_elsewhere(LineAddr line);
  Copy& take_copy(LineAddr line, Slot slot);
  // The place of any block of the line in this level, or -1 if the level holds none.
  [[nodiscard]] int find_any_block(LineAddr line, int level) const;
  void remove_from_level(Copy& copy, int level);

  [[nodiscard]] static bool holds(int level, const Copy& copy) { return ((copy.levels >> level) & 1) != 0; }
  static void set_holds(int level, Copy& copy) { copy.levels = static_cast<std::uint8_t>(copy.levels | 1U << level); }
  static void clear_holds(int level, Copy& copy) { copy.levels = static_cast<std::uint8_t>(copy.levels & ~(1U << level)); }
  // True if the level's lines are whole coherence lines, not parts of them.
  [[nodiscard]] bool has_full_lines(int level) const { return (full_lines_ >> level & 1) != 0; }
  [[nodiscard]] bool inclusive(int level) const { return (inclusive_ >> level & 1) != 0; }

  // Frees a place for `block`, without evicting a block of `keep`, and returns the place. Returns -1 if no place can be freed.
  template <class Gate>
  int make_room(int level, std::uint64_t block, const Copy* keep, Gate& gate);
  // Inserts the copy's block if a way can be freed. Returns false if this fails in an inclusive level: the nearer levels must
  // then not hold the block either.
  template <class Gate>
  bool fill(Copy& copy, int level, Address address, Tick age, Gate& gate);
  void attach(Copy& copy, int level, std::uint64_t block, int place, Tick age) {
    arrays_[level].insert(block, place, copy.index, age);
    copy.places[level] = place;
    set_holds(level, copy);
  }
  // Evicting a block from an inclusive level removes the whole line from the nearer levels, too.
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
  std::vector<CacheArray> arrays_;  // one array for each level, the nearest level first
  unsigned inclusive_ = 0;          // bit k: set if level k is inclusive
  unsigned full_lines_ = 0;         // bit k: set if level k has full coherence lines
  bool all_full_lines_;             // true if all levels have full coherence lines
  const ControllerTable* table_;
  LineStore* store_;
  int line_shift_;
  std::size_t host_lines_;  // of one copy
  std::unique_ptr<HostLine[]> pool_;
  CopyIndex pool_used_ = 0;
  CopyIndex pool_size_;
  ZeroedArray<CopyIndex> latest_{kLatestCopies};  // see latest_copy(); at first all are copy 0, which no level holds yet
  std::vector<CopyIndex> free_;
  std::vector<CopyIndex> detached_;
};

template <class Gate>
int CacheAgent::make_room(int level, std::uint64_t block, const Copy* keep, Gate& gate) {
  CacheArray& array = arrays_[level];
  const int place = array.victim(block, [&](CopyIndex index) {
    Copy& candidate = copy(index);
    // Evicting a victim from an inclusive level also evicts it from the nearer levels. The copy then stays in the agent only
    // if a farther level holds it.
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
Copy* CacheAgent::allocate(LineAddr line, Tick age, Gate& gate, Slot slot) {
  const int outermost = levels() - 1;
  const int place = make_room(outermost, line.value, nullptr, gate);
  if (place < 0) return nullptr;
  Copy& fresh = take_copy(line, slot);
  attach(fresh, outermost, line.value, place, age);
  return &fresh;
}

template <class Gate>
CacheAgent::Lookup CacheAgent::hit_any_level(Address address, Access access, Tick age, Tick farther_age, Gate& gate) {
  const Lookup found = look_up(address);
  if (found.level < 0 || !allows(*found.copy, access)) return {};
  if (found.level == 0) {
    arrays_.front().touch(place_of(*found.copy, address, 0), age);
    return found;
  }
  if (farther_age == kNever) return {};
  if (found.level < levels() - 1) {
    promote(*found.copy, address, farther_age, gate, found.level);
  } else {  // no level beyond the outermost one needs an update
    arrays_.back().touch(place_of(*found.copy, address, found.level), farther_age);
    int nearer = found.level - 1;
    while (nearer >= 0 && fill(*found.copy, nearer, address, farther_age, gate)) --nearer;
  }
  return found;
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
