// What a count that many threads change is used for, as far as a trace shows it: counting events, counting references,
// handing out numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/studies/advice/time_account.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

enum class CountKind : std::uint8_t {
  none,        // not a count: most of its writes are no additions, or a thread waits for a value
  unknown,     // a count, but the recorder did not see whether it goes up or down
  events,      // only increases, and no result of an addition is used
  numbers,     // only increases, and its results are used: each thread gets a different number
  references,  // increases and decreases equally often, and a decrement checks whether it was the last one
  level        // increases and decreases; no result is used
};

// Operations of all threads on the word, over the whole trace.
struct CountUse {
  std::int64_t ups = 0, downs = 0;  // atomic additions and subtractions, including compare-and-exchange by 1
  std::int64_t other_adds = 0;      // with unknown sign
  std::int64_t other_writes = 0;    // stores, exchanges, changes of bits
  // How many of these operations return a result that the program uses.
  std::int64_t used_ups = 0, used_downs = 0, used_others = 0;
  std::int64_t unseen = 0;  // additions for which it is unknown whether the result is used
  std::int64_t loads = 0;

  [[nodiscard]] std::int64_t adds() const { return ups + downs + other_adds; }
  // True if additions are loops of load and compare-and-exchange. A replay with another counter would take these loads for
  // reads of the sum.
  [[nodiscard]] bool is_by_loops() const { return unseen == adds() && 2 * loads >= adds(); }
  [[nodiscard]] CountKind kind() const;
  CountUse& operator+=(const CountUse& other);
};

// A word of a true share that is a count.
struct SharedCount {
  CountWord word;
  CountUse use;
};

struct CountShare {
  const TimeShare* share = nullptr;
  std::vector<SharedCount> counts;  // those words of the share that are counts of one kind, the most changed first
  CountKind kind{};
  bool is_field = false;  // true if it lies beside other fields, whose reference count it may be

  [[nodiscard]] CountUse use() const;  // of all
};

// Truly shared counts that take at least one percent of the threads' time, the costliest first. REQUIRES: `account` outlives
// them.
std::vector<CountShare> count_shares(const TimeAccount& account, const trace::Reader& reader);

// "a reference count: 8000 additions and 8000 subtractions, after which the program checks whether it was the last".
std::string sentence(const CountShare& count);
// "a reference count", "an event counter".
const char* name_of(CountKind kind);

bool is_shared_ptr(const TimeShare& share);

// Sets TimeShare::role of all shares that are counts.
void name_roles(TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
