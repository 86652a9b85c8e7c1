// How measurement leaves the hardware, which does not know who listens.
#pragma once

#include <cstdint>

#include "models/units.hpp"

namespace linebounce {

using FunctionId = std::uint16_t;  // a function of the program, see workloads/program/symbols.hpp

enum class AccessKind : std::uint8_t { load, store, atomic };
constexpr int kAccessKinds = 3;

// Who supplied the data of an access, seen from the requester's node, or that only a right was missing. node_cache: what the
// controller of the requester's own bus keeps.
enum class Source : std::uint8_t { local_c2c, local_memory, remote_memory, remote_c2c, node_cache, upgrade };
constexpr int kSources = 6;

struct Miss {
  CpuId cpu;
  FunctionId function;
  AccessKind access;
  Source source;
  Address address;
  Tick issued;   // the access' start
  Tick latency;  // until the operation could start
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void miss(const Miss& miss) = 0;
};

}  // namespace linebounce
