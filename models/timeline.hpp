// The interface through which hardware and locks report what they did and when, so that a viewer can draw it. Without a
// Timeline, reporting costs nothing. Times are in ticks. Events are reported when they are over, in no particular order.
#pragma once

#include <cstdint>
#include <string>

#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

enum class BusPhase : std::uint8_t { address, data };
enum class LockPhase : std::uint8_t { wait, hold };

class Timeline {
 public:
  virtual ~Timeline() = default;

  // The function's own code ran; functions that it called are reported separately.
  virtual void function(CpuId cpu, FunctionId function, Tick from, Tick to) = 0;
  virtual void sleep(CpuId cpu, Tick from, Tick to) = 0;
  virtual void miss(const Miss& miss) = 0;
  virtual void lock(CpuId cpu, const std::string& lock, LockPhase phase, Tick from, Tick to) = 0;
  // `client`: the core whose request it is, or kMemory for the controller's own. `message` is the request's name in the
  // protocol.
  virtual void bus(int bus, BusPhase phase, int client, const std::string& message, Address line, Tick from, Tick to) = 0;
  // A message's bytes occupied the link between two nodes. A node number after the last node's is the switch of a crossbar.
  virtual void link(int from_node, int to_node, Address line, bool carries_data, Tick from, Tick to) = 0;
  virtual void grace_period(std::int64_t number, Tick from, Tick to) = 0;
};

}  // namespace linebounce
