// What a count that many threads change is for, as far as a trace shows: events, references, numbers that are handed out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/studies/advice/time_account.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

enum class CountKind : std::uint8_t {
  none,        // no count: most of its writes are no additions, or somebody waits for a value
  unknown,     // a count; the recorder did not see which way it goes
  events,      // only goes up, and nobody looks at what an addition returns
  numbers,     // only goes up, and what an addition returns is used: each thread gets another number
  references,  // goes up and down as often, and who takes 1 off looks whether it was the last
  level        // goes up and down; nobody looks at what that returns
};

// By all threads, over the whole trace.
struct CountUse {
  std::int64_t ups = 0, downs = 0;  // atomic additions and subtractions, compare-and-exchange by 1 included
  std::int64_t other_adds = 0;      // of unknown sign
  std::int64_t other_writes = 0;    // stores, exchanges, changes of bits
  std::int64_t used_ups = 0, used_downs = 0, used_others = 0;  // of those, how many results the program looks at
  std::int64_t unseen = 0;                                     // additions of which it is not known whether it does
  std::int64_t loads = 0;

  [[nodiscard]] std::int64_t adds() const { return ups + downs + other_adds; }
  // By load and compare-and-exchange: a replay would take each of these loads for a read of the sum.
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
  std::vector<SharedCount> counts;  // those words of the share that are counts of one kind, the most changed one first
  CountKind kind{};
  bool is_field = false;  // beside other fields: it may be the reference count of what they are

  [[nodiscard]] CountUse use() const;  // of all
};

// Truly shared counts that take at least one percent of the threads' time, the costliest first. `account` must outlive them.
std::vector<CountShare> count_shares(const TimeAccount& account, const trace::Reader& reader);

// "a reference count: 8000 additions and 8000 subtractions, after which the program looks whether it was the last".
std::string sentence(const CountShare& count);
// "a reference count", "an event counter".
const char* name_of(CountKind kind);

bool is_shared_ptr(const TimeShare& share);

// TimeShare::role of all that are counts.
void name_roles(TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
