// Finds why a thread missed a cache line, from the bytes of the line that other threads have used since the thread's own last
// access.
//
// Judges sharing over time, not for the whole run. A slot of a ring that one thread fills and another empties later is truly
// shared, although each thread uses neighbouring slots on the line in between.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/units.hpp"

namespace linebounce::sim {

enum class Interference : std::uint8_t {
  none,        // no other thread had the line since: a cold, capacity or conflict miss
  same_bytes,  // true sharing: another thread used bytes that this thread uses while it has the line
  other_bytes  // false sharing: other threads only used bytes that this thread doesn't use while it has the line
};

// The cause of a miss. It is final only when the line is lost again, because a later hit may use bytes that another thread
// wrote. The miss is then true sharing, not false (Dubois et al.: a miss is useless only if nothing that others wrote is used
// until the line is lost again).
struct MissCause {
  Interference why = Interference::none;
  bool first_touch = true;  // true: the thread's first access to the line
  Address word = 0;         // address of the access that decided the cause
};

// One CPU's accesses to a word.
struct WordUse {
  std::int64_t reads = 0, writes = 0;
  std::int64_t adds = 0;  // writes that are atomic additions
};

class LineHistories {
 public:
  explicit LineHistories(int line_bytes)
      : line_bytes_(line_bytes), unit_bytes_(line_bytes > kUnits ? line_bytes / kUnits : 1) {}

  struct Access {
    int cpu = 0;
    Address address = 0;
    int bytes = 0;
    bool writes = false;  // the access requests the right to write, even if it is a compare-exchange that fails
    WordUse use = {};
  };
  // Adds an access. `miss`: receives the cause if the access missed, and must remain valid, because later hits may change it;
  // null for a hit. REQUIRES: accesses come in the order in which the machine runs them.
  void add(const Access& access, MissCause* miss);
  // Returns the cause that a miss of `access` would have now.
  [[nodiscard]] MissCause cause_of(const Access& access) const;

  // Returns the accesses to the word, by CPU. Atomic additions are always counted. Other accesses are counted only from the
  // time that a second thread uses the line.
  [[nodiscard]] const std::vector<WordUse>& users(Address word) const;

 private:
  static constexpr int kUnits = 64;  // number of parts into which a line is divided
  using Time = std::uint64_t;        // counts accesses; 0: never

  // The latest uses by two different CPUs. One of them is the latest use by any CPU other than a given one.
  struct LatestUses {
    std::array<Time, 2> at{};
    std::array<int, 2> cpu{-1, -1};
    void add(int by, Time now) {
      if (cpu[0] != by) {
        at[1] = at[0];
        cpu[1] = cpu[0];
      }
      at[0] = now;
      cpu[0] = by;
    }
    [[nodiscard]] Time by_others(int than) const { return cpu[0] == than ? at[1] : at[0]; }
  };
  struct Uses {
    LatestUses reads, writes;
  };
  // A CPU's accesses to a line, and the miss that fetched its copy.
  struct Own {
    Time last = 0, last_write = 0;
    MissCause* miss = nullptr;
    Time last_before = 0, last_write_before = 0;  // `last` and `last_write` at the time of that miss
  };
  struct SharedLine {
    Uses all;
    std::array<Uses, kUnits> units;
    std::vector<Own> own;  // by CPU
  };
  struct Line {
    int cpu = -1;  // the line's only user
    std::uint64_t read = 0, written = 0;
    Time last = 0, last_write = 0;
    std::unique_ptr<SharedLine> shared = nullptr;
  };

  [[nodiscard]] static bool used_by_others(const Uses& uses, int cpu, bool writes, Time last, Time last_write) {
    return uses.writes.by_others(cpu) > last || (writes && uses.reads.by_others(cpu) > last_write);
  }
  [[nodiscard]] std::pair<int, int> units_of(const Access& access) const;
  [[nodiscard]] bool same_units(const SharedLine& line, const Access& access, Time last, Time last_write) const;
  [[nodiscard]] MissCause cause_in(const SharedLine& line, const Access& access) const;
  static void share(Line& line);
  void count_use(const Access& access);
  static Own& own_of(SharedLine& line, int cpu);

  int line_bytes_, unit_bytes_;
  Time now_ = 0;
  std::unordered_map<std::uint64_t, Line> lines_;
  std::unordered_map<Address, std::vector<WordUse>> words_;
};

}  // namespace linebounce::sim
