// The interface through which a machine reports every step of a run: protocol rows, cache accesses, messages, and stores in
// store buffers. Reports come in the order in which the simulator executes. A core that runs ahead reports early, so a listener
// must sort reports by time. Without a listener each report costs one predicted branch, and none on the fast path of a hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/coherence/protocol.hpp"
#include "models/units.hpp"

namespace linebounce {

struct Operation;

// A sender or receiver of messages; each kind is numbered separately. `memory` is plain memory behind a bus. A machine with
// nodes has controllers, directories and groups instead.
struct Endpoint {
  enum class Kind : std::uint8_t { cache, bus, memory, controller, directory, group };
  Kind kind = Kind::cache;
  int number = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
constexpr int kEndpointKinds = 6;

struct SentMessage {
  enum class What : std::uint8_t {
    request,   // the address phase of `message`, an index into the bus protocol's messages
    again,     // the address phase of a transaction that the node controller had deferred
    shared,    // a snoop result: another cache has a copy
    owned,     // a snoop result: a cache has newer data than memory
    alone,     // a snoop result: neither shared nor owned
    deferred,  // the node controller's answer that it defers the transaction
    data,      // a line on the data bus
    word,      // a stored word on the data bus, to update the other copies
    packet     // `message`, an index into the directory protocol's messages, on the network
  };
  What what{};
  MessageId message = 0;
  Endpoint from, to;
  LineAddr line;
  Tick departs = 0;
  Tick arrives = kNever;  // kNever if StepListener::arrived() reports the arrival later
  bool carries_data = false;
};

// When an access runs: at once (hit), when its fill arrives (fill), in its order step on the bus (order), or in an order step
// that runs it on memory's data (memory).
enum class Served : std::uint8_t { hit, fill, order, memory };

class StepListener {
 public:
  virtual ~StepListener() = default;

  virtual void row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event,
                       StateId next) = 0;
  // A directory's entry has changed. `owner` and the bits of `sharers` are indices into MachineLayout::agents.
  virtual void directory_changed(Tick time, int directory, LineAddr line, int owner, std::uint64_t sharers) = 0;
  // An access ran. Its word was `old` before and is `fresh` afterwards; the two are equal for a load.
  virtual void access_ran(Tick time, int agent, CpuId cpu, const Operation& operation, Value old, Value fresh,
                          Served served) = 0;
  // The bytes of a message, or those on the bus, were written into the copy of the line at `keeper`.
  virtual void data_taken(Tick time, Endpoint keeper, LineAddr line, std::span<const std::byte> bytes) = 0;
  // A message was sent. The caller passes the returned number to arrived() if `arrives` is not known yet.
  virtual std::uint32_t sent(const SentMessage& message) = 0;
  virtual void arrived(std::uint32_t message, Tick time) = 0;
  // A store entered the CPU's store buffer, a store drained from it into the cache, or a load took its value from the buffer.
  virtual void store_buffered(Tick time, CpuId cpu, const Operation& operation) = 0;
  virtual void store_drained(Tick time, CpuId cpu, const Operation& operation) = 0;
  virtual void load_forwarded(Tick time, CpuId cpu, const Operation& operation, Value value) = 0;
};

}  // namespace linebounce
