// Where the time of a replay's threads goes: each tick of each thread belongs to one class, and has a name and a source line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/units.hpp"
#include "sim/point/simulation_input.hpp"
#include "trace/symbols.hpp"

namespace linebounce::sim {

enum class TimeClass : std::uint8_t {
  compute,         // instructions and hits in the nearest cache
  private_misses,  // of a cache's own making: no other thread took the line
  lock,            // acquiring and releasing a lock, but for what other data on the lock's line cost
  false_sharing,   // misses because another thread used other bytes of the line
  true_sharing,    // misses because another thread used the same bytes, which several threads write
  communication,   // the same, of bytes that one thread writes for others
  waiting,         // for a barrier, an event or a word
  joining          // for threads to end
};
constexpr int kTimeClasses = 8;

// "true sharing".
const char* name_of(TimeClass what);
// As JSON has it: "true_sharing".
const char* key_of(TimeClass what);

// A word of a layout: of a structure, or of an object without one, by its name.
struct CountWord {
  std::string layout;
  std::uint64_t offset = 0;
  std::int64_t writes = 0;  // by all CPUs
};

constexpr std::size_t kMostCountWords = 16;

struct TimeShare {
  TimeClass what{};
  std::string name = {};                    // of the lock, object or word; empty for `compute` and `joining`
  std::string source = {};                  // where that is defined: "/src/cache.c:12"; empty: not known
  std::vector<std::string> functions = {};  // that spent most of it, the first one most; two at most
  int writers = 0, readers = 0;             // CPUs, of the two kinds of sharing of the same bytes
  std::int64_t writes = 0, reads = 0;       // by all of them
  std::vector<CountWord> words = {};        // of true sharing, that with most writes first; at most kMostCountWords
  std::string role = {};                    // "a reference count": of a count whose use was recognised (count_use.hpp)
  double held_pct = 0;                      // of the run's time: of a lock, what its holders kept it
  Tick ticks = 0;
};

// A line on which threads missed because others used other bytes of it meanwhile.
struct FalseLine {
  std::uint64_t line = 0;  // its address, in lines
  std::int64_t misses = 0;
};

struct TimeAccount {
  std::string machine;
  Tick all = 0;                        // from each thread's beginning to its end, summed
  double all_us = 0;                   // the same in microseconds
  std::vector<TimeShare> shares;       // the largest first; their ticks add up to `all`
  std::vector<FalseLine> false_lines;  // by address

  [[nodiscard]] double pct(Tick ticks) const;
  // The largest share that says what to do; null: there is none. Waiting for threads to end is nobody's bottleneck.
  [[nodiscard]] const TimeShare* bottleneck() const;
};

// Runs the replay once, in this process, and accounts for every thread's time. Errors: SimulationFailure.
TimeAccount account_time(const SimulationInput& input, const trace::Symbols& symbols);

// "61.3 % true sharing: keys_added, which 8 threads write, in worker (/src/count.c:5)", without the percentage.
std::string sentence(const TimeShare& share);

}  // namespace linebounce::sim
