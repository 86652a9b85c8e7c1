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

using StageId = std::uint32_t;
constexpr StageId kNoStage = 0;

// One stretch of a transaction's critical path: a wait for a resource, then the use of it. A stage begins at the tick at which
// the stage `after` ends, so the stages of a transaction add up to its latency.
struct Stage {
  enum class What : std::uint8_t {
    core,      // look-up in the core's caches; before it, the wait for an MSHR or for a fill that is under way
    bus,       // arbitration for the address phase
    snoop,     // address phase and snoop; may wait, because snoop results keep their order
    line,      // only a wait: an earlier transaction or access on the bus keeps the line
    supply,    // data is fetched: from memory, from a controller's cache, or from the cache that owns it
    data_bus,  // only a wait
    transfer,  // the line or word on the data bus, and on its way to the requester
    response,  // an answer without data
    given_up,  // other caches report that their copies are gone
    fill,      // from the core's pins into its caches
    deferred,  // only a wait: the node's controller is busy with another request of its bus for the line
    pass,      // through a controller, directory or group, with its look-up
    answers,   // a home that broadcasts waits for the answers of all nodes
    outlet,    // outlet to another stop of a group; messages may wait here, because messages of a class keep their order
    crossing,  // only a wait: for the crossing, a stage that all messages leaving a node pass
    link,      // over the link from node `at` to node `peer`
    inbox,     // only a wait: the controller is receiving other messages
    turn,      // only a wait: the directory is busy with earlier requests for the line
    stalled    // only a wait: the line is in a transient state
  };
  What what{};
  Endpoint at;    // the owner of the resource; for a node, its directory
  int peer = -1;  // the node at the other end of a link
  LineAddr line;
  Tick from = 0, to = 0;
  Tick queued = 0;  // the part of this time that is a wait
  // The interval [held_from, held_until) in which others cannot use the resource; empty if it is not held.
  Tick held_from = 0, held_until = 0;
  StageId after = kNoStage;  // kNoStage: the transaction's first
};
constexpr int kStages = 19;

class StepListener {
 public:
  virtual ~StepListener() = default;

  virtual void row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event,
                       StateId next) = 0;
  // A directory's entry has changed. `owner` and the bit numbers of `sharers` are indices into MachineLayout::agents.
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
  // Reports a stage of a transaction, which takes place now or later. Returns the stage's number, which the caller passes as
  // `after` of the transaction's next stage. The first stage of a transaction has `after` kNoStage.
  virtual StageId stage(const Stage& stage) = 0;
};

}  // namespace linebounce
