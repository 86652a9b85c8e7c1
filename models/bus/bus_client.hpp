// The interfaces between a bus and the caches on it.
#pragma once

#include "models/bus/memory_side.hpp"
#include "models/cache/cache_agent.hpp"
#include "models/coherence/step_listener.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"
#include "models/waits.hpp"

namespace linebounce {

// A transaction that waits for the bus or is under way on it.
struct BusRequest {
  // `ask`: the node controller has yet to grant the request. `run`: the node controller has granted it. `recall`: the node
  // controller itself issued it.
  enum class Kind : std::uint8_t { ask, run, recall };

  Tick stamp = 0;            // the requester's local time, which may be ahead of the machine's
  int client = 0;            // the requester's number in the machine, or kMemory; breaks ties of stamps
  StageId stage = kNoStage;  // the transaction's latest stage, by its StepListener number
  Copy* copy = nullptr;      // if a core makes the request: its copy of the line, which saves the bus a look-up; else null
  LineAddr line;
  Slot slot = 0;  // the line's slot in the LineStore
  MessageId message = 0;
  Kind kind = Kind::ask;
  // When the requester made the request for the first time. 0: at `stamp`, that is, the request was never deferred. Among
  // requests with equal stamps the earlier `since` goes first, then the lower `client`.
  Tick since = 0;
  Waits waits = {};  // the waits of the transaction so far

  // REQUIRES: the request is on the bus, which has set `since`.
  [[nodiscard]] bool was_deferred() const { return since < stamp; }
};

// The bytes of a line that a store has written.
struct WrittenWord {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

class BusClient {
 public:
  virtual ~BusClient() = default;
  virtual CacheAgent& caches() = 0;

  // The time until which the client keeps the line from other agents: an atomic operation locks it, or buffered stores drain
  // into it. A time in the past if the client does not keep the line.
  [[nodiscard]] virtual Tick kept_until(LineAddr line) const = 0;

  // Tells the client that the bus has ordered its transaction for `copy`. The data or response reaches the client's pins at
  // `pins`; `waits` are the transaction's waits until then. Returns the earliest time at which another agent may take the
  // line: a new owner first completes its access.
  virtual Tick deliver(Copy& copy, Tick pins, Source source, StageId stage, const Waits& waits) = 0;

  // Runs the store or atomic that waits for the client's transaction on `copy`, which the bus is ordering at `at`. Errors:
  // ModelFailure if no operation waits, or if the copy is stale.
  virtual WrittenWord write_in_order(Copy& copy, Tick at) = 0;

  // Runs the client's far atomic, which the bus is ordering at `at`: puts the result of the operation on memory's data `line`
  // into `copy`, which the bus then writes to memory. Errors: ModelFailure if no operation waits, or if the data is stale.
  virtual void operate(Copy& copy, const LineData& line, Tick at) = 0;

  // Tells the client that the result of its far atomic reaches the pins at `pins`. The client may have dropped its copy by
  // then.
  virtual void operated(LineAddr line, Tick pins, Source source, StageId stage, const Waits& waits) = 0;

  // Tells the client that its write-back was ordered at `at`, which frees its write-back buffer.
  virtual void written_back(Tick at) = 0;

  // Called by the bus just before it accesses, at `at`, a copy that a parked spin watches.
  virtual void watched_copy_changed(LineAddr line, Tick at) = 0;
};

class Bus {
 public:
  virtual ~Bus() = default;
  [[nodiscard]] virtual const Protocol& protocol() const = 0;
  // Queues a request for arbitration. REQUIRES: request.stamp is not before the machine's time.
  virtual void post(const BusRequest& request) = 0;
  // Runs the Data row of the client's ordered transaction, whose data has arrived and is already in `copy`. Returns true if the
  // row issued another request; the access then keeps waiting.
  virtual bool data_step(int client, Copy& copy, Tick at, StageId stage, const Waits& waits) = 0;
};

}  // namespace linebounce
