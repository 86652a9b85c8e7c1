// Divides the time of a replay's threads. Each tick of each thread is charged to one share, which has a class, a name and a
// place in the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/units.hpp"
#include "sim/point/simulation_input.hpp"
#include "sim/replay/pace_range.hpp"
#include "trace/symbols.hpp"

namespace linebounce::sim {

enum class TimeClass : std::uint8_t {
  compute,         // instructions, and hits in the nearest cache
  private_misses,  // cold, capacity and conflict misses, and loads that hit in the core's farther caches
  lock,            // acquiring and releasing a lock, without misses due to other data on the lock's line
  false_sharing,   // misses because another thread used other bytes of the line
  true_sharing,    // misses because another thread used the same bytes, which several threads write
  communication,   // like true_sharing, but only one thread writes the bytes, and others read them
  waiting,         // waiting for a barrier, an event or a word
  joining          // waiting for threads to end
};
constexpr int kTimeClasses = 8;

// "true sharing".
const char* name_of(TimeClass what);
// The class in JSON: "true_sharing".
const char* key_of(TimeClass what);

// A word at an offset of a layout. The layout is named after its structure, or else after its object.
struct CountWord {
  std::string layout;
  std::uint64_t offset = 0;
  std::int64_t writes = 0;  // by all CPUs
};

constexpr std::size_t kMostCountWords = 16;

// A figure if the program computes fast, and if slowly (PaceRange).
using FastAndSlow = std::pair<double, double>;

struct TimeShare {
  TimeClass what{};
  std::string name = {};                    // the lock, object or word; empty for `compute` and `joining`
  std::string source = {};                  // where `name` is defined: "/src/cache.c:12"; empty: unknown
  std::vector<std::string> functions = {};  // at most two functions in which most of the time was spent, the first one most
  int writers = 0, readers = 0;             // for true_sharing and communication: the numbers of CPUs that write and that read
  std::int64_t writes = 0, reads = 0;       // by all of them
  std::vector<CountWord> words = {};        // for true sharing: at most kMostCountWords words, the most written first
  std::string role = {};                    // "a reference count", for a count whose use was recognised (count_use.hpp)
  double held_pct = 0;                      // for a lock: the time that it was held, in percent of the run's time
  Tick ticks = 0;
  std::optional<FastAndSlow> us_over_pace = {};  // the time in microseconds; none if the trace does not tell its instructions
};

// A line on which threads missed because others had used other bytes of it.
struct FalseLine {
  std::uint64_t line = 0;  // the line's virtual address, divided by the line size
  std::int64_t misses = 0;
};

// In percent of the threads' time: cheaper shares of words are not worth a change of the program.
inline constexpr double kCostlyPct = 1;

struct TimeAccount {
  std::string machine;
  Tick all = 0;       // the time from begin to end, summed over all threads
  double all_us = 0;  // the same in microseconds
  std::optional<FastAndSlow> all_us_over_pace = {};
  bool has_sizes = true;               // as OrdersChange::has_size
  std::vector<TimeShare> shares;       // the largest first; their ticks add up to `all`
  std::vector<FalseLine> false_lines;  // by address
  // Words that several threads write, on lines with a truly shared word of kCostlyPct. A thread misses a line once, at the word
  // that it uses first: once that word is somewhere else, it misses at the next. The time of these words is no part of `all`.
  std::vector<TimeShare> beside;

  [[nodiscard]] double pct(Tick ticks) const;
  [[nodiscard]] std::optional<FastAndSlow> pct_over_pace(const TimeShare& share) const;
  // Returns the largest share that a change of the program could reduce; null if there is none. Waiting for threads to end is
  // never such a share.
  [[nodiscard]] const TimeShare* bottleneck() const;
};

// Runs the replay once, in this process, and divides its threads' time. Errors: SimulationFailure.
TimeAccount account_time(const SimulationInput& input, const trace::Symbols& symbols);

// Runs two more replays, at both ends of the range, and notes what they give for each share.
void add_pace_range(TimeAccount& account, SimulationInput input, const trace::Symbols& symbols, const PaceRange& range);

// Describes a share: "true sharing: keys_added, which 8 threads write, in worker (/src/count.c:5)".
std::string sentence(const TimeShare& share);

}  // namespace linebounce::sim
