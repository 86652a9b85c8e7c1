// Classes of misses: cold, capacity, conflict, true sharing and false sharing. Sharing misses are told apart by Dubois'
// definition (ISCA 1993): a miss on a line that another cache's write had invalidated is true sharing if, before the copy is
// lost again, the CPU accesses a word that another one has written since its own latest essential miss; else the miss brought
// nothing new, and is false sharing. All misses but those of false sharing are essential.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/units.hpp"

namespace linebounce::sim {

enum class MissClass : std::uint8_t { none, cold, capacity, conflict, true_sharing, false_sharing };
constexpr std::array<std::string_view, 6> kMissClassWords = {"",         "cold",         "capacity",
                                                             "conflict", "true sharing", "false sharing"};

class MissClasses {
 public:
  // `lines`: the size of each cache. A miss on an evicted line counts as a conflict if a fully associative cache of that size,
  // with least recently used replacement, would still hold the line; else as a capacity miss. REQUIRES: at most 64 caches.
  MissClasses(int caches, int line_bytes, std::int64_t lines);

  // The line has come into the cache.
  void fetched(int cache, LineAddr line);
  // The cache has taken the line as it passed on the bus, so that no access has waited for it.
  void passed(int cache, LineAddr line);
  // The cache has lost the line: to make room, or to another cache's transaction.
  void evicted(int cache, LineAddr line);
  void invalidated(int cache, LineAddr line);

  // A store has gone to memory alone: the cache has no copy, and gets none.
  void wrote_past(int cache, Address address, int bytes);

  // How an access changes the class of the miss that brought the cache's copy. none to X: the access is that miss. From false
  // to true sharing: the access is the first one to a word that was new. Equal: nothing changes.
  struct Change {
    MissClass was = MissClass::none, is = MissClass::none;
  };
  // An access, after fetched(). `hit`: it needed no transaction. REQUIRES: the bytes lie on one line.
  Change used(int cache, Address address, int bytes, bool writes, bool hit);

 private:
  // The lines of a fully associative cache, least recently used last.
  class Shadow {
   public:
    [[nodiscard]] bool has(LineAddr line) const { return places_.contains(line.value); }
    void use(LineAddr line, std::int64_t lines);
    void remove(LineAddr line);

   private:
    std::list<std::uint64_t> order_;
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
  };
  // What a cache knows of a line. Bit n of a mask is the line's n-th part of part_bytes_ bytes.
  struct Copy {
    std::uint64_t fresh = 0;  // parts that others have written since this cache's latest essential miss
    std::uint64_t due = 0;    // those of them that the latest miss brought, until one is accessed
    MissClass is = MissClass::none;
    bool was_evicted = false;  // the latest copy left to make room
    bool unused = false;       // no access has used the copy yet
    bool counted = false;      // an access has waited for the copy
  };
  struct Line {
    std::uint64_t caches = 0;    // bit n: cache n has had the line
    std::vector<Copy> copies{};  // by cache
  };
  void renew_for_others(int cache, Line& line, std::uint64_t parts) const;
  [[nodiscard]] Copy& copy_of(int cache, LineAddr line);
  [[nodiscard]] std::uint64_t parts(Address address, int bytes) const;

  const int caches_, line_bytes_, part_bytes_;
  const std::int64_t capacity_;
  std::vector<Shadow> shadows_;
  std::unordered_map<std::uint64_t, Line> lines_;
};

}  // namespace linebounce::sim
