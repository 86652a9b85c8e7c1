// Finds out from a trace what a count that many threads change is used for: to count events, to count references, or to hand
// out numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/advise/time_account.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

enum class CountKind : std::uint8_t {
  none,        // not a count: most writes are not additions, or a thread waits for a value
  unknown,     // a count, but the trace does not show whether it goes up or down
  events,      // only goes up, and the program uses no addition's result
  numbers,     // only goes up, and the program uses the results, so each thread gets another number
  references,  // goes up and down equally often, and the program checks whether a decrement was the last one
  level        // goes up and down, and the program uses no result
};

// Numbers of operations on the word by all threads, over the whole trace.
struct CountUse {
  std::int64_t ups = 0, downs = 0;  // atomic additions and subtractions, including changes by 1 with compare-and-exchange
  std::int64_t other_adds = 0;      // with unknown sign
  std::int64_t other_writes = 0;    // stores, exchanges, changes of bits
  // How many of the operations return a result that the program uses. Others: additions of unknown sign.
  std::int64_t used_ups = 0, used_downs = 0, used_others = 0;
  std::int64_t unseen = 0;  // additions for which the trace does not show whether the program uses the result
  std::int64_t loads = 0;

  [[nodiscard]] std::int64_t adds() const { return ups + downs + other_adds; }
  // True if additions are loops with a load and a compare-and-exchange. A replay with another counter would mistake these
  // loads for reads of the sum.
  [[nodiscard]] bool is_by_loops() const { return unseen == adds() && 2 * loads >= adds(); }
  [[nodiscard]] CountKind kind() const;
  CountUse& operator+=(const CountUse& other);
};

// A truly shared word that is a count.
struct SharedCount {
  CountWord word;
  CountUse use;
};

struct CountShare {
  const TimeShare* share = nullptr;
  std::vector<SharedCount> counts;  // the words of the share that are counts of its kind, the most changed first
  CountKind kind{};
  bool is_field = false;  // true if the count lies beside other fields; it may then be the reference count of their object

  [[nodiscard]] CountUse use() const;  // of all
};

struct CountShares {
  std::vector<CountShare> costly;  // truly shared counts that take at least kCostlyPct, the costliest first
  std::vector<CountShare> beside;  // counts of the same kinds in TimeAccount::beside
};
// REQUIRES: `account` outlives the result.
CountShares count_shares(const TimeAccount& account, const trace::Reader& reader);

// Describes a count: "a reference count: 8000 additions and 8000 subtractions, after which the program checks whether it was
// the last".
std::string sentence(const CountShare& count);
// Names a kind: "a reference count", "an event counter".
const char* name_of(CountKind kind);

bool is_shared_ptr(const TimeShare& share);

// Sets TimeShare::role of all shares that are counts.
void name_roles(TimeAccount& account, const trace::Reader& reader);

}  // namespace linebounce::sim
