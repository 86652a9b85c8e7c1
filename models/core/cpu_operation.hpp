// One memory operation of a program, from its first attempt until it completes.
#pragma once

#include <algorithm>
#include <span>

#include "models/core/cpu_counters.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

enum class OperationKind : std::uint8_t { load, store, exchange, fetch_add, compare_exchange };

struct Operation {
  OperationKind kind = OperationKind::load;
  std::uint8_t bytes = 8;
  bool adds = false;        // true for Cpu::write_adding(): adds `expected`, whatever the kind
  bool in_spin = false;     // true for a spin's load, which skips the TLB and the instruction cache
  FunctionId function = 0;  // the program's function that issued the operation
  Address address = 0;
  Value operand = 0;    // the value to store or to add
  Value expected = 0;   // the value that compare_exchange expects, or the addend if `adds`
  Tick issued = -1;     // time of the first attempt; -1 before the first attempt
  bool waited = false;  // true after a deferral, for example because another operation was fetching the line
  Source waited_for = Source::local_memory;

  [[nodiscard]] AccessKind access_kind() const {
    if (kind == OperationKind::load) return AccessKind::load;
    return kind == OperationKind::store ? AccessKind::store : AccessKind::atomic;
  }
  [[nodiscard]] bool writes() const { return kind != OperationKind::load; }
};

// The outstanding loads of one Cpu::load_all call.
struct OverlappedLoads {
  std::span<Value> values;
  Tick next_issue = 0;  // earliest time of the next issue: the thread issues one load per cycle
  Tick ends = 0;        // latest end of the completed loads
  TimePart part{};      // what the load that ended last waited for
  int under_way = 0;
  bool thread_waits = false;  // true if all loads are issued: the last one to complete resumes the thread

  void finished(Tick at, TimePart waited_for) {
    if (at > ends) part = waited_for;
    ends = std::max(ends, at);
  }
};

}  // namespace linebounce
