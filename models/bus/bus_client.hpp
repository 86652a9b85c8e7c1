// The interfaces between a bus and the caches on it.
#pragma once

#include <sysc/communication/sc_interface.h>

#include "models/bus/memory_side.hpp"
#include "models/cache/cache_agent.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

// A transaction that waits for the bus, or is under way on it.
struct BusRequest {
  // `ask`: the node controller must grant it first. `run`: granted. `recall`: the controller's own request.
  enum class Kind : std::uint8_t { ask, run, recall };

  Tick stamp = 0;  // the requester's own time; may lie ahead of the kernel's
  int client = 0;  // the requester's number in the whole machine, or kMemory; breaks ties of stamps
  LineAddr line;
  Slot slot = 0;  // the line's, in the LineStore
  MessageId message = 0;
  Kind kind = Kind::ask;
  Tick since = 0;  // of a deferred request, when it was first made; breaks ties of stamps before `client` does; 0: `stamp`
};

// The bytes of a line that a store has written.
struct WrittenWord {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

class BusClient : public virtual sc_core::sc_interface {
 public:
  virtual CacheAgent& caches() = 0;

  // The time until which an atomic operation locks the line; in the past if none does.
  [[nodiscard]] virtual Tick locked_until(LineAddr line) const = 0;

  // The client's transaction for this copy was ordered, and its data or response reaches the pins at `pins`. Returns the first
  // tick at which the line may be taken away: a new owner completes the access that it asked for before it yields the line.
  virtual Tick deliver(Copy& copy, Tick pins, Source source) = 0;

  // The bus orders the client's transaction for this copy at `at`, and the store or atomic that waits for it runs now.
  // Errors: ModelFailure if no operation waits, or for a stale copy.
  virtual WrittenWord write_in_order(Copy& copy, Tick at) = 0;

  // The bus orders the client's far atomic at `at`, and the operation runs now on memory's `line`. Afterwards memory takes the
  // copy's bytes. Errors: ModelFailure if no operation waits, or for stale data.
  virtual void operate(Copy& copy, const LineData& line, Tick at) = 0;

  // The value that the far atomic found reaches the pins at `pins`. The copy may be gone by then.
  virtual void operated(LineAddr line, Tick pins, Source source) = 0;

  // The client's write-back was ordered at `at`, which frees its write-back buffer.
  virtual void written_back(Tick at) = 0;

  // Called before the bus touches a copy that a parked spin watches, at `at`.
  virtual void watched_copy_changed(LineAddr line, Tick at) = 0;
};

class Bus : public virtual sc_core::sc_interface {
 public:
  [[nodiscard]] virtual const Protocol& protocol() const = 0;
  // REQUIRES: request.stamp is not before the kernel's time.
  virtual void post(const BusRequest& request) = 0;
  // Runs the Data row of this client's ordered transaction: its data has arrived, and is in the copy already. True if the row
  // has issued another request, for which the access goes on waiting.
  virtual bool data_step(int client, Copy& copy, Tick at) = 0;
};

}  // namespace linebounce
