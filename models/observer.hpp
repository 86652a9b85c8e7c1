// The interface through which the hardware reports cache misses, without knowing its observers.
#pragma once

#include <cstdint>

#include "models/units.hpp"
#include "models/waits.hpp"

namespace linebounce {

using FunctionId = std::uint16_t;  // number of a function of the program (workloads/program/symbols.hpp)

enum class AccessKind : std::uint8_t { load, store, atomic };
constexpr int kAccessKinds = 3;

// The supplier of an access's data, seen from the requester's node. c2c: another cache (cache to cache). node_cache: the
// controller of the requester's bus, or a group in the node. upgrade: none, since the access needed only the right to write.
enum class Source : std::uint8_t { local_c2c, local_memory, remote_memory, remote_c2c, node_cache, upgrade };
constexpr int kSources = 6;

struct Miss {
  CpuId cpu;
  FunctionId function;
  AccessKind access;
  Source source;
  Address address;
  Tick issued;   // when the access was issued
  Tick latency;  // time from `issued` until the operation could start
  Waits waits;   // waits that are part of the latency; the rest is travel
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void miss(const Miss& miss) = 0;
};

}  // namespace linebounce
