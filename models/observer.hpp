// The interface through which the hardware reports misses. It doesn't know its observers.
#pragma once

#include <cstdint>

#include "models/units.hpp"

namespace linebounce {

using FunctionId = std::uint16_t;  // a function of the program, see workloads/program/symbols.hpp

enum class AccessKind : std::uint8_t { load, store, atomic };
constexpr int kAccessKinds = 3;

// The supplier of an access's data, seen from the requester's node. upgrade: only the right to write was missing. node_cache:
// the node controller of the requester's own bus.
enum class Source : std::uint8_t { local_c2c, local_memory, remote_memory, remote_c2c, node_cache, upgrade };
constexpr int kSources = 6;

struct Miss {
  CpuId cpu;
  FunctionId function;
  AccessKind access;
  Source source;
  Address address;
  Tick issued;   // when the access was issued
  Tick latency;  // from then until the operation could start
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void miss(const Miss& miss) = 0;
};

}  // namespace linebounce
