// One memory operation of a program, from its first attempt until it completes.
#pragma once

#include <span>

#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

enum class OperationKind : std::uint8_t { load, store, exchange, fetch_add, compare_exchange };

struct Operation {
  OperationKind kind = OperationKind::load;
  std::uint8_t bytes = 8;
  bool adds = false;        // a write of any kind that adds `expected` to the word
  bool in_spin = false;     // a spin's load, which is not looked up in the footprint
  FunctionId function = 0;  // the function that issued it
  Address address = 0;
  Value operand = 0;    // the value to store or to add
  Value expected = 0;   // for compare_exchange, and if `adds`
  Tick issued = -1;     // time of the first attempt; -1 before it
  bool waited = false;  // it waited for a line that another operation had requested
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
  Tick next_issue = 0;  // the thread issues one load per cycle
  Tick ends = 0;        // when the last completed load ends
  int under_way = 0;
  bool thread_waits = false;  // all loads are issued, and the last one to complete resumes the thread
};

}  // namespace linebounce
