// The interface through which a machine reports every step of a run: protocol rows, cache accesses, messages, and stores in
// store buffers. Reports come in the order of execution, in which a core that runs ahead is early; a listener sorts them by
// time. Without a listener they cost one predicted branch each, off the path of a hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/coherence/protocol.hpp"
#include "models/units.hpp"

namespace linebounce {

struct Operation;

// A sender or receiver of messages, numbered among its kind. `memory` is plain memory behind a bus; a machine with nodes has
// controllers, directories and groups instead.
struct Endpoint {
  enum class Kind : std::uint8_t { cache, bus, memory, controller, directory, group };
  Kind kind = Kind::cache;
  int number = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
constexpr int kEndpointKinds = 6;

struct SentMessage {
  enum class What : std::uint8_t {
    request,   // the address phase of `message`, of the bus's protocol
    again,     // the same for a transaction that the node controller had deferred
    shared,    // the snoop's result: another cache has a copy
    owned,     // the snoop's result: a cache has newer data than memory
    alone,     // the snoop's result: neither
    deferred,  // the node controller defers the transaction
    data,      // a line on the data bus
    word,      // a stored word on the data bus, for the other copies
    packet     // `message` of the directory's protocol on the network
  };
  What what{};
  MessageId message = 0;
  Endpoint from, to;
  LineAddr line;
  Tick departs = 0;
  Tick arrives = kNever;  // kNever: reported later by StepListener::arrived()
  bool carries_data = false;
};

// When an access runs: at once (hit), at its fill, in its order step on the bus, or in an order step on memory's data.
enum class Served : std::uint8_t { hit, fill, order, memory };

class StepListener {
 public:
  virtual ~StepListener() = default;

  virtual void row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event,
                       StateId next) = 0;
  // A directory's entry has changed. `owner` and the bits of `sharers` are indices into MachineLayout::agents.
  virtual void directory_changed(Tick time, int directory, LineAddr line, int owner, std::uint64_t sharers) = 0;
  // An access has changed the word from `old` to `fresh`; a load leaves it equal.
  virtual void access_ran(Tick time, int agent, CpuId cpu, const Operation& operation, Value old, Value fresh,
                          Served served) = 0;
  // A message or the bus has filled the keeper's copy of the line with these bytes.
  virtual void data_taken(Tick time, Endpoint keeper, LineAddr line, std::span<const std::byte> bytes) = 0;
  // Returns a number for arrived(), which reports the arrival if it isn't known yet.
  virtual std::uint32_t sent(const SentMessage& message) = 0;
  virtual void arrived(std::uint32_t message, Tick time) = 0;
  // A store entered the CPU's store buffer, or drained into the cache; or a load took its value from the buffer.
  virtual void store_buffered(Tick time, CpuId cpu, const Operation& operation) = 0;
  virtual void store_drained(Tick time, CpuId cpu, const Operation& operation) = 0;
  virtual void load_forwarded(Tick time, CpuId cpu, const Operation& operation, Value value) = 0;
};

}  // namespace linebounce
