// One memory operation of a program, from its first attempt until it is done.
#pragma once

#include <span>

#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

enum class OperationKind : std::uint8_t { load, store, exchange, fetch_add, compare_exchange };

struct Operation {
  OperationKind kind = OperationKind::load;
  std::uint8_t bytes = 8;
  bool adds = false;        // a write of whatever kind: adds `expected` to what is there
  bool in_spin = false;     // a load that repeats: its code and its page are at hand since the spin began
  FunctionId function = 0;  // whose code it is
  Address address = 0;
  Value operand = 0;    // what is stored, or added
  Value expected = 0;   // compare_exchange only
  Tick issued = -1;     // the first attempt's time; -1 before
  bool waited = false;  // for a line that another operation had asked for
  Source waited_for = Source::local_memory;

  [[nodiscard]] AccessKind access_kind() const {
    if (kind == OperationKind::load) return AccessKind::load;
    return kind == OperationKind::store ? AccessKind::store : AccessKind::atomic;
  }
  [[nodiscard]] bool writes() const { return kind != OperationKind::load; }
};

// Loads of one thread that are under way together (Cpu::load_all).
struct OverlappedLoads {
  std::span<Value> values;
  Tick next_issue = 0;  // one a cycle
  Tick ends = 0;        // the last of those that have come
  int under_way = 0;
  bool waits = false;  // the thread has issued all, and goes on with the last
};

}  // namespace linebounce
