// Everything that the parts of a machine are built from and share. A MachineContext outlives the parts.
#pragma once

#include "models/machine_layout.hpp"
#include "models/machine_spec.hpp"
#include "models/timebase.hpp"

namespace linebounce {

class Homes;
class LineStore;
class TransitionLog;

struct MachineContext {
  const MachineSpec& spec;
  const MachineLayout& layout;
  const Timebase& timebase;
  LineStore& store;
  Homes& homes;
  TransitionLog& log;
  Tick warmup_end, end;  // the measured time is from warmup_end to end
};

}  // namespace linebounce
