// Divides the time of a replay's threads: each tick of each thread belongs to one class, with a name and a source line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/units.hpp"
#include "sim/point/simulation_input.hpp"
#include "trace/symbols.hpp"

namespace linebounce::sim {

enum class TimeClass : std::uint8_t {
  compute,         // instructions, and hits in the nearest cache
  private_misses,  // misses that no other thread caused: cold, capacity and conflict misses
  lock,            // acquiring and releasing a lock, without the cost of other data on the lock's line
  false_sharing,   // misses because another thread used other bytes of the line
  true_sharing,    // misses because another thread used the same bytes, which several threads write
  communication,   // the same, but only one thread writes the bytes and others read them
  waiting,         // waiting for a barrier, an event or a word
  joining          // waiting for threads to end
};
constexpr int kTimeClasses = 8;

// "true sharing".
const char* name_of(TimeClass what);
// The name in JSON: "true_sharing".
const char* key_of(TimeClass what);

// A word at an offset in a layout. The layout is named after its structure, or after its object if that has no structure.
struct CountWord {
  std::string layout;
  std::uint64_t offset = 0;
  std::int64_t writes = 0;  // by all CPUs
};

constexpr std::size_t kMostCountWords = 16;

struct TimeShare {
  TimeClass what{};
  std::string name = {};                    // the lock, object or word; empty for `compute` and `joining`
  std::string source = {};                  // where it is defined: "/src/cache.c:12"; empty: unknown
  std::vector<std::string> functions = {};  // the functions that spent most of the time; at most two, the first one spent most
  int writers = 0, readers = 0;             // number of CPUs that write and read, for true_sharing and communication
  std::int64_t writes = 0, reads = 0;       // by all of them
  std::vector<CountWord> words = {};        // for true sharing: the words with most writes first; at most kMostCountWords
  std::string role = {};                    // "a reference count", for a count whose use was recognised (count_use.hpp)
  double held_pct = 0;                      // for a lock: how long it was held, in percent of the run's time
  Tick ticks = 0;
};

// A line on which threads missed because others used other bytes of it meanwhile.
struct FalseLine {
  std::uint64_t line = 0;  // its address, divided by the line size
  std::int64_t misses = 0;
};

struct TimeAccount {
  std::string machine;
  Tick all = 0;                        // sum over all threads of the time from begin to end
  double all_us = 0;                   // the same in microseconds
  std::vector<TimeShare> shares;       // the largest first; their ticks add up to `all`
  std::vector<FalseLine> false_lines;  // by address

  [[nodiscard]] double pct(Tick ticks) const;
  // The largest share that suggests a remedy; null if there is none. The time of waiting for threads to end is never one.
  [[nodiscard]] const TimeShare* bottleneck() const;
};

// Runs the replay once, in this process, and charges every thread's time to shares. Errors: SimulationFailure.
TimeAccount account_time(const SimulationInput& input, const trace::Symbols& symbols);

// "true sharing: keys_added, which 8 threads write, in worker (/src/count.c:5)".
std::string sentence(const TimeShare& share);

}  // namespace linebounce::sim
