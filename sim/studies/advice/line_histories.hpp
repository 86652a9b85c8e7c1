// Why a thread missed a cache line: the bytes of the line that other threads have used since its own last access.
//
// Sharing is judged over time, not for the whole run: a slot of a ring that one thread fills and another empties later is truly
// shared, although both access the neighbouring slots' line in between.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/units.hpp"

namespace linebounce::sim {

enum class Interference : std::uint8_t {
  none,        // no other thread had the line in between: a cold, capacity or conflict miss
  same_bytes,  // another thread used bytes that this thread uses while it has the line: true sharing
  other_bytes  // another thread only used bytes that this thread does not use while it has the line: false sharing
};

// The cause of a miss. A later hit on the fetched line may turn false sharing into true sharing (Dubois et al.: a miss is
// useless only if nothing that others wrote is used until the line is lost again).
struct MissCause {
  Interference why = Interference::none;
  bool first_touch = true;  // whether it is the thread's first access to the line
  Address word = 0;         // address of the access that decided the cause
};

// One thread's accesses to a word that several threads use.
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
    bool writes = false;  // requests the right to write; also true for a failed compare-exchange
    WordUse use = {};
  };
  // REQUIRES: called in the order in which the machine runs accesses. `miss`: receives the cause if the access missed, and must
  // stay valid; null if it hit.
  void add(const Access& access, MissCause* miss);
  // The cause that `access` would have if it missed now.
  [[nodiscard]] MissCause cause_of(const Access& access) const;

  // Each CPU's accesses to the word. Atomic additions are always counted, other accesses only after a second thread has used
  // the line.
  [[nodiscard]] const std::vector<WordUse>& users(Address word) const;

 private:
  static constexpr int kUnits = 64;  // a line is divided into this many parts
  using Time = std::uint64_t;        // counts accesses; 0: never

  // The latest uses by two different CPUs. They are enough to find the latest use by any CPU other than a given one.
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
  // One CPU's accesses to a line, and the miss that fetched its present copy.
  struct Own {
    Time last = 0, last_write = 0;
    MissCause* miss = nullptr;
    Time last_before = 0, last_write_before = 0;  // the same times, as they were at that miss
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
