// Who hears of a run step by step: every row of a protocol that runs, every access to a cache, every message, every store in a
// store buffer. Told in the order in which the kernel runs them, so that a core that runs ahead is told early: whoever listens
// puts them in order by their times. Where nobody listens it costs one predicted branch, and that off the path of a hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/coherence/protocol.hpp"
#include "models/units.hpp"

namespace linebounce {

struct Operation;

// Who sends and receives messages, by its number among its kind. `memory` is the plain one behind a bus; with nodes there are
// controllers, directories and groups in its place.
struct Endpoint {
  enum class Kind : std::uint8_t { cache, bus, memory, controller, directory, group };
  Kind kind = Kind::cache;
  int number = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
constexpr int kEndpointKinds = 6;

struct SentMessage {
  enum class What : std::uint8_t {
    request,   // `message` of the bus's protocol: its address phase
    again,     // the same, of a transaction that the node controller had deferred
    shared,    // what the snoop has found, told to the requester: another cache has a copy
    owned,     // another cache has newer data than memory
    alone,     // neither
    deferred,  // the node controller puts the transaction off
    data,      // a line on the data bus
    word,      // what a store has written, on the data bus, for the other copies
    packet     // `message` of the directory's protocol, on the network
  };
  What what{};
  MessageId message = 0;
  Endpoint from, to;
  LineAddr line;
  Tick departs = 0;
  Tick arrives = kNever;  // kNever: told later, see StepListener::arrived()
  bool carries_data = false;
};

// When an access runs: at once, for the cache has the right to it; when what it lacked has come; as a part of its order step
// on the bus; or there, but on memory's data.
enum class Served : std::uint8_t { hit, fill, order, memory };

class StepListener {
 public:
  virtual ~StepListener() = default;

  virtual void row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event,
                       StateId next) = 0;
  // A directory's note of a line has changed: `owner` and the bits of `sharers` number the homes' agents
  // (MachineLayout::agents).
  virtual void directory_changed(Tick time, int directory, LineAddr line, int owner, std::uint64_t sharers) = 0;
  // The word in this agent's cache, or in memory, was `old` and is `fresh`; a load leaves it.
  virtual void access_ran(Tick time, int agent, CpuId cpu, const Operation& operation, Value old, Value fresh,
                          Served served) = 0;
  // The copy of a line that is kept there has become these bytes: what a message or the bus has brought, not an access.
  virtual void data_taken(Tick time, Endpoint keeper, LineAddr line, std::span<const std::byte> bytes) = 0;
  // Returns a number by which to report its arrival, where that isn't known yet.
  virtual std::uint32_t sent(const SentMessage& message) = 0;
  virtual void arrived(std::uint32_t message, Tick time) = 0;
  // A store went into the CPU's store buffer, or out of it, into the cache. / A load found its value there.
  virtual void store_buffered(Tick time, CpuId cpu, const Operation& operation) = 0;
  virtual void store_drained(Tick time, CpuId cpu, const Operation& operation) = 0;
  virtual void load_forwarded(Tick time, CpuId cpu, const Operation& operation, Value value) = 0;
};

}  // namespace linebounce
